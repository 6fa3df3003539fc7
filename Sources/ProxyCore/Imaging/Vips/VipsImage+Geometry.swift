// SPDX-License-Identifier: Apache-2.0

import CVips

extension VipsImage {
    /// Resamples to `target` exactly (Lanczos 3); alpha is premultiplied around it, in 8 bits.
    borrowing func resized(to target: PixelSize) throws(ImagingError) -> VipsImage {
        guard target != size else { return try duplicate() }
        guard hasAlpha else { return try resampled(to: target) }
        return try premultiplied().resampled(to: target).unpremultiplied()
    }

    private borrowing func resampled(to target: PixelSize) throws(ImagingError) -> VipsImage {
        let horizontal = Double(target.width) / Double(size.width)
        let vertical = Double(target.height) / Double(size.height)
        return try unsafe derived(shim_resize(raw, horizontal, vertical))
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

    /// Turns clockwise by any angle on a canvas that holds it all, transparent where nothing is.
    ///
    /// The image must have alpha and must not be sequential.
    borrowing func rotated(byDegrees angle: Double) throws(ImagingError) -> VipsImage {
        let background = [Double](repeating: 0, count: bands)
        return try unsafe derived(shim_rotate(raw, angle, background, CInt(bands)))
    }

    /// Centres the image on a transparent canvas of `canvas`; what lies outside is cut.
    borrowing func centred(on canvas: PixelSize) throws(ImagingError) -> VipsImage {
        let background = [Double](repeating: 0, count: bands)
        let left = (canvas.width - size.width) / 2
        let top = (canvas.height - size.height) / 2
        return try unsafe derived(
            shim_embed(
                raw, CInt(left), CInt(top), CInt(canvas.width), CInt(canvas.height), background, CInt(bands)))
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
        guard isSequential else { return try duplicate() }
        return try unsafe VipsImage(adopting: shim_copy_memory(raw), isSequential: false)
    }

    /// Makes a second image of the same pixels with metadata of its own.
    borrowing func duplicate() throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_copy(raw))
    }
}
