// SPDX-License-Identifier: Apache-2.0

import CVips
import Glibc

extension VipsImage {
    /// Resamples to exactly `target`, down with Lanczos 3, up with bicubic interpolation; alpha is
    /// premultiplied meanwhile, in 8 bits.
    package borrowing func resized(to target: PixelSize) throws(ImagingError) -> VipsImage {
        guard target != size else { return try duplicate() }
        guard hasAlpha else { return try resampled(to: target) }
        return try premultiplied().resampled(to: target).unpremultiplied()
    }

    /// Resamples all bands alike.
    borrowing func resampled(to target: PixelSize) throws(ImagingError) -> VipsImage {
        let least = PixelSize(min(size.width, target.width), min(size.height, target.height))
        return try reduced(to: least).enlarged(to: target)
    }

    private borrowing func reduced(to target: PixelSize) throws(ImagingError) -> VipsImage {
        guard target != size else { return try duplicate() }
        let horizontal = Double(target.width) / Double(size.width)
        let vertical = Double(target.height) / Double(size.height)
        return try unsafe derived(shim_resize(raw, horizontal, vertical))
    }

    /// Shrinks an opaque image of which only this part, from the top left corner on, is visible: its last
    /// column and row may be partly covered by the picture.
    borrowing func reduced(
        to target: PixelSize, showing part: (width: Double, height: Double)
    ) throws(ImagingError) -> VipsImage {
        if part == (Double(size.width), Double(size.height)) { return try resized(to: target) }
        let horizontal = Double(target.width) / part.width
        let vertical = Double(target.height) / part.height
        // libvips distributes the rounding error of its size over both sides, up to a quarter of a pixel
        // each; with this margin the error is negligible when the image is shrunk much.
        let padded = PixelSize(
            Self.sideThatScales(size.width, by: horizontal), Self.sideThatScales(size.height, by: vertical))
        let larger = try unsafe derived(
            shim_surround(raw, 0, 0, CInt(padded.width), CInt(padded.height), VIPS_EXTEND_COPY))
        let small = try unsafe larger.derived(shim_resize(larger.raw, horizontal, vertical))
        return try small.cropped(to: PixelRectangle(left: 0, top: 0, size: target))
    }

    /// The first of the next few lengths from `length` on whose scaled value is closest to a whole number.
    private static func sideThatScales(_ length: Int, by scale: Double) -> Int {
        let distances = (length..<length + 8).map { candidate in
            let scaled = Double(candidate) * scale
            return (candidate, abs(scaled - scaled.rounded()))
        }
        return distances.min { $0.1 < $1.1 }?.0 ?? length
    }

    private borrowing func enlarged(to target: PixelSize) throws(ImagingError) -> VipsImage {
        guard target != size else { return try duplicate() }
        let horizontal = Double(target.width) / Double(size.width)
        let vertical = Double(target.height) / Double(size.height)
        return try unsafe derived(
            shim_map_middle(
                raw, horizontal, 0, 0, vertical, CInt(target.width), CInt(target.height), 1))
    }

    /// Cuts a rectangle that lies within the image.
    borrowing func cropped(to rectangle: PixelRectangle) throws(ImagingError) -> VipsImage {
        try unsafe derived(
            shim_crop(
                raw, CInt(rectangle.left), CInt(rectangle.top), CInt(rectangle.size.width),
                CInt(rectangle.size.height)))
    }

    /// Finds the most interesting rectangle of `wanted`: by attention (edges, skin, saturation), or by
    /// entropy.
    ///
    /// Reads all pixels; the image must not be sequential.
    borrowing func interestingRectangle(
        of wanted: PixelSize, byEntropy: Bool
    ) throws(ImagingError) -> PixelRectangle {
        let found = try unsafe derived(
            shim_smart_crop(raw, CInt(wanted.width), CInt(wanted.height), byEntropy ? 1 : 0))
        // libvips stores the negated position of the result in the input.
        return unsafe PixelRectangle(
            left: -Int(vips_image_get_xoffset(found.raw)), top: -Int(vips_image_get_yoffset(found.raw)),
            size: wanted)
    }

    /// Rotates clockwise by 90° × `count`, 1–3; the image must not be sequential.
    borrowing func turned(byQuarters count: Int) throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_quarter_turns(raw, CInt(count)))
    }

    /// Rotates clockwise around the centre by any angle on a canvas of `canvas`; uncovered parts are
    /// transparent.
    ///
    /// The image must have alpha and must not be sequential.
    borrowing func rotated(byDegrees angle: Double, on canvas: PixelSize) throws(ImagingError) -> VipsImage {
        let turn = angle * Double.pi / 180
        return try unsafe derived(
            shim_map_middle(
                raw, cos(turn), -sin(turn), sin(turn), cos(turn), CInt(canvas.width), CInt(canvas.height), 0))
    }

    /// Places the image on a canvas of one colour; the part outside is cut. Alpha is added if the colour has
    /// it.
    borrowing func placed(
        on canvas: PixelSize, left: Int, top: Int, over color: PixelColor
    ) throws(ImagingError) -> VipsImage {
        let colored = try color.isGrey ? duplicate() : inColor()
        let image = try color.isOpaque ? colored.duplicate() : colored.withAlpha()
        let levels = image.isGrey ? [Double(color.red)] : Array(color.components.prefix(3))
        let background = image.hasAlpha ? levels + [Double(color.alpha)] : levels
        return try unsafe image.derived(
            shim_embed(
                image.raw, CInt(left), CInt(top), CInt(canvas.width), CInt(canvas.height), background,
                CInt(background.count)))
    }

    /// Places the image on a canvas that repeats its own pixels; the part outside is cut.
    ///
    /// The image must not be sequential.
    borrowing func surrounded(
        on canvas: PixelSize, left: Int, top: Int, by edge: CanvasEdge
    ) throws(ImagingError) -> VipsImage {
        if edge == .tiled, min(size.width, size.height) < Self.leastTile {
            return try block().surrounded(on: canvas, left: left, top: top, by: edge)
        }
        return try unsafe derived(
            shim_surround(
                raw, CInt(left), CInt(top), CInt(canvas.width), CInt(canvas.height), edge.vips))
    }

    /// libvips works for each tile as long as for some thousand pixels: smaller images are repeated in memory first.
    private static let leastTile = 128

    /// The image, repeated until neither side is small.
    private borrowing func block() throws(ImagingError) -> VipsImage {
        let times = [size.width, size.height].map { CInt((Self.leastTile + $0 - 1) / $0) }
        return try unsafe derived(shim_replicate(raw, times[0], times[1])).computed()
    }

    /// Replaces each block of `side` × `side` pixels by its mean; blocks on the right and at the bottom may
    /// be smaller.
    ///
    /// The image must not be sequential, and alpha must be premultiplied.
    borrowing func mosaic(of side: Int) throws(ImagingError) -> VipsImage {
        let across = min(side, size.width)
        let down = min(side, size.height)
        let whole = size.height / down * down
        let upper = try mosaicRow(0, whole, across, down)
        guard whole < size.height else { return upper }
        let lower = try mosaicRow(whole, size.height - whole, across, size.height - whole)
        return try unsafe upper.derived(shim_join(upper.raw, lower.raw, 1))
    }

    private borrowing func mosaicRow(
        _ top: Int, _ height: Int, _ across: Int, _ down: Int
    ) throws(ImagingError) -> VipsImage {
        let whole = size.width / across * across
        let left = try blocks(0, top, PixelSize(whole, height), across, down)
        guard whole < size.width else { return left }
        let rest = size.width - whole
        let right = try blocks(whole, top, PixelSize(rest, height), rest, down)
        return try unsafe left.derived(shim_join(left.raw, right.raw, 0))
    }

    private borrowing func blocks(
        _ left: Int, _ top: Int, _ area: PixelSize, _ width: Int, _ height: Int
    ) throws(ImagingError) -> VipsImage {
        let part = try cropped(to: PixelRectangle(left: left, top: top, size: area))
        let means = try unsafe part.derived(shim_average_blocks(part.raw, CInt(width), CInt(height)))
        return try unsafe means.derived(shim_zoom(means.raw, CInt(width), CInt(height)))
    }

    /// Finds the smallest rectangle that contains every pixel that differs from a colour by more than
    /// `threshold`; nil if there is none.
    ///
    /// Reads all pixels; the image must not be sequential. `color` has as many components as the image has
    /// bands.
    borrowing func extent(
        differingFrom color: [Double], by threshold: Double
    ) throws(ImagingError) -> PixelRectangle? {
        let differing = try unsafe derived(shim_differing(raw, color, CInt(bands), threshold))
        var left: CInt = 0
        var top: CInt = 0
        var width: CInt = 0
        var height: CInt = 0
        guard unsafe shim_extent(differing.raw, &left, &top, &width, &height) == 0 else {
            throw VipsLibrary.failure()
        }
        guard width > 0, height > 0 else { return nil }
        return PixelRectangle(
            left: Int(left), top: Int(top), size: PixelSize(Int(width), Int(height)))
    }

    /// Mirrors, from left to right or upside down; upside down, the image must not be sequential.
    borrowing func flipped(vertically: Bool) throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_flip(raw, vertically ? 1 : 0))
    }

    /// Applies an EXIF orientation, 1–8, and removes it from the metadata.
    borrowing func oriented(by orientation: Int) throws(ImagingError) -> VipsImage {
        let needsAnyOrder = orientation > 2
        let marked = try needsAnyOrder ? inMemory().duplicate() : duplicate()
        marked.set("orientation", to: orientation)
        return try unsafe marked.derived(shim_autorot(marked.raw))
    }

    /// Computes all pixels into memory if they could otherwise be read only once, from top to bottom.
    borrowing func inMemory() throws(ImagingError) -> VipsImage {
        try isSequential ? computed() : duplicate()
    }

    /// Computes all pixels into memory.
    package borrowing func computed() throws(ImagingError) -> VipsImage {
        try unsafe VipsImage(adopting: shim_copy_memory(raw), isSequential: false)
    }

    /// Draws another image with as many bands on this one; the part outside is cut.
    borrowing func inserting(
        _ image: borrowing VipsImage, left: Int, top: Int
    ) throws(ImagingError) -> VipsImage {
        try unsafe VipsImage(
            adopting: shim_insert(raw, image.raw, CInt(left), CInt(top)),
            isSequential: isSequential || image.isSequential)
    }

    /// Creates a second image of the same pixels with its own metadata.
    borrowing func duplicate() throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_copy(raw))
    }
}

/// The pixels beside a picture on a larger canvas.
enum CanvasEdge {
    /// The edge pixels, repeated.
    case continued
    case mirrored
    /// The picture, repeated.
    case tiled

    /// libvips' name.
    fileprivate var vips: VipsExtend {
        switch self {
        case .continued: VIPS_EXTEND_COPY
        case .mirrored: VIPS_EXTEND_MIRROR
        case .tiled: VIPS_EXTEND_REPEAT
        }
    }
}
