// SPDX-License-Identifier: Apache-2.0

import CVips
import Glibc

extension VipsImage {
    /// Resamples to `target` exactly, to less by Lanczos 3, to more by bicubic interpolation; alpha is premultiplied around
    /// it, in 8 bits.
    borrowing func resized(to target: PixelSize) throws(ImagingError) -> VipsImage {
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

    /// Makes an opaque image smaller, of which only this much, from the top left corner on, is to be seen: its last column
    /// and row may be of the picture in part.
    borrowing func reduced(
        to target: PixelSize, showing part: (width: Double, height: Double)
    ) throws(ImagingError) -> VipsImage {
        if part == (Double(size.width), Double(size.height)) { return try resized(to: target) }
        let horizontal = Double(target.width) / part.width
        let vertical = Double(target.height) / part.height
        // libvips shares what its rounded size has too much or too little among both sides, up to a quarter of a pixel each;
        // with this there is hardly any where much is to be made smaller.
        let room = PixelSize(
            Self.sideThatScales(size.width, by: horizontal), Self.sideThatScales(size.height, by: vertical))
        let larger = try unsafe derived(
            shim_surround(raw, 0, 0, CInt(room.width), CInt(room.height), SHIM_EDGE_COPY))
        let small = try unsafe larger.derived(shim_resize(larger.raw, horizontal, vertical))
        return try small.cropped(to: PixelRectangle(left: 0, top: 0, size: target))
    }

    /// The first of the next few lengths from `length` on that becomes the most nearly a whole number.
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

    /// Finds the most interesting rectangle of `wanted`: by attention (edges, skin, saturation), or by entropy.
    ///
    /// Reads all pixels; the image must not be sequential.
    borrowing func interestingRectangle(
        of wanted: PixelSize, byEntropy: Bool
    ) throws(ImagingError) -> PixelRectangle {
        let found = try unsafe derived(
            shim_smart_crop(raw, CInt(wanted.width), CInt(wanted.height), byEntropy ? 1 : 0))
        // libvips notes in the result where its origin lies in the input, negated.
        return unsafe PixelRectangle(
            left: -Int(vips_image_get_xoffset(found.raw)), top: -Int(vips_image_get_yoffset(found.raw)),
            size: wanted)
    }

    /// Turns clockwise by 90° × `count`, 1–3; the image must not be sequential.
    borrowing func turned(byQuarters count: Int) throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_quarter_turns(raw, CInt(count)))
    }

    /// Turns clockwise round the middle by any angle on a canvas of `canvas`, transparent where nothing is.
    ///
    /// The image must have alpha and must not be sequential.
    borrowing func rotated(byDegrees angle: Double, on canvas: PixelSize) throws(ImagingError) -> VipsImage {
        let turn = angle * Double.pi / 180
        return try unsafe derived(
            shim_map_middle(
                raw, cos(turn), -sin(turn), sin(turn), cos(turn), CInt(canvas.width), CInt(canvas.height), 0))
    }

    /// Places the image on a canvas of one colour; what lies outside is cut. Alpha comes in where the colour has it.
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

    /// Places the image on a canvas that its own pixels continue; what lies outside is cut.
    ///
    /// The image must not be sequential.
    borrowing func surrounded(
        on canvas: PixelSize, left: Int, top: Int, by edge: CanvasEdge
    ) throws(ImagingError) -> VipsImage {
        try unsafe derived(
            shim_surround(
                raw, CInt(left), CInt(top), CInt(canvas.width), CInt(canvas.height), edge.vips))
    }

    /// Replaces each block of `side` × `side` pixels by its mean; blocks at the right and at the bottom may be smaller.
    ///
    /// The image must not be sequential, and alpha be premultiplied.
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

    /// Finds the smallest rectangle that holds everything further than `threshold` from a colour; nil when that is nothing.
    ///
    /// Reads all pixels; the image must not be sequential. `color` has as many components as the image has bands.
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

    /// Applies an EXIF orientation, 1–8, and leaves none in the metadata.
    borrowing func oriented(by orientation: Int) throws(ImagingError) -> VipsImage {
        let needsAnyOrder = orientation > 2
        let marked = try needsAnyOrder ? inMemory().duplicate() : duplicate()
        marked.set("orientation", to: orientation)
        return try unsafe marked.derived(shim_autorot(marked.raw))
    }

    /// Computes all pixels into memory when they could otherwise be read once only, from top to bottom.
    borrowing func inMemory() throws(ImagingError) -> VipsImage {
        try isSequential ? computed() : duplicate()
    }

    /// Computes all pixels into memory.
    borrowing func computed() throws(ImagingError) -> VipsImage {
        try unsafe VipsImage(adopting: shim_copy_memory(raw), isSequential: false)
    }

    /// Puts another image with as many bands into this one; what lies outside is cut.
    borrowing func inserting(
        _ image: borrowing VipsImage, left: Int, top: Int
    ) throws(ImagingError) -> VipsImage {
        try unsafe VipsImage(
            adopting: shim_insert(raw, image.raw, CInt(left), CInt(top)),
            isSequential: isSequential || image.isSequential)
    }

    /// Makes a second image of the same pixels with metadata of its own.
    borrowing func duplicate() throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_copy(raw))
    }
}

/// What a picture's own pixels put beside it.
enum CanvasEdge {
    /// The pixels along the edge, again and again.
    case continued
    /// Mirror images.
    case mirrored
    /// The picture itself, again and again.
    case tiled

    /// libvips' name.
    fileprivate var vips: ShimEdge {
        switch self {
        case .continued: SHIM_EDGE_COPY
        case .mirrored: SHIM_EDGE_MIRROR
        case .tiled: SHIM_EDGE_REPEAT
        }
    }
}
