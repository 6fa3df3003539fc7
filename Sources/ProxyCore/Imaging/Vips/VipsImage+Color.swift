// SPDX-License-Identifier: Apache-2.0

import CVips

extension VipsImage {
    /// Brings samples to 8 bits; the colour space stays what it is, except that float samples become sRGB.
    borrowing func inEightBits() throws(ImagingError) -> VipsImage {
        switch unsafe vips_image_get_format(raw) {
        case VIPS_FORMAT_UCHAR:
            return try duplicate()
        case VIPS_FORMAT_USHORT:
            let narrow = try unsafe derived(shim_cast(raw, VIPS_FORMAT_UCHAR, 1))
            return try narrow.renamingSixteenBitSpace()
        default:
            return try unsafe derived(shim_colourspace(raw, VIPS_INTERPRETATION_sRGB)).castToBytes()
        }
    }

    private borrowing func renamingSixteenBitSpace() throws(ImagingError) -> VipsImage {
        switch unsafe vips_image_get_interpretation(raw) {
        case VIPS_INTERPRETATION_RGB16: try unsafe derived(shim_reinterpret(raw, VIPS_INTERPRETATION_sRGB))
        case VIPS_INTERPRETATION_GREY16: try unsafe derived(shim_reinterpret(raw, VIPS_INTERPRETATION_B_W))
        default: try duplicate()
        }
    }

    private borrowing func castToBytes() throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_cast(raw, VIPS_FORMAT_UCHAR, 0))
    }

    /// Converts to sRGB, through the embedded profile where there is one; 8 bits come in and go out.
    ///
    /// - Parameter keepsGrey: whether grey without a profile may stay one band.
    borrowing func inSRGB(keepsGrey: Bool) throws(ImagingError) -> VipsImage {
        let space = unsafe vips_image_get_interpretation(raw)
        let isCMYK = space == VIPS_INTERPRETATION_CMYK
        if hasForeignProfile {
            return try unsafe derived(shim_icc_to_srgb(raw, isCMYK ? "cmyk" : "srgb"))
        }
        if space == VIPS_INTERPRETATION_sRGB { return try duplicate() }
        if space == VIPS_INTERPRETATION_B_W, keepsGrey { return try duplicate() }
        return try unsafe derived(shim_colourspace(raw, VIPS_INTERPRETATION_sRGB)).castToBytes()
    }

    /// Whether a profile is embedded that is not the usual sRGB one (IEC 61966-2.1, by its device fields).
    private var hasForeignProfile: Bool {
        var length = 0
        guard let bytes = unsafe shim_blob_field(raw, "icc-profile-data", &length) else { return false }
        let profile = unsafe UnsafeRawBufferPointer(start: bytes, count: length)
        // ICC.1:2010 §7.2: device manufacturer at 48, device model at 52.
        guard length >= 56 else { return false }
        return unsafe !profile[48..<56].elementsEqual("IEC sRGB".utf8)
    }

    /// Turns grey into three bands, so that colours can be put in.
    borrowing func inColor() throws(ImagingError) -> VipsImage {
        guard isGrey else { return try duplicate() }
        return try unsafe derived(shim_colourspace(raw, VIPS_INTERPRETATION_sRGB)).castToBytes()
    }

    /// Adds an opaque alpha band where there is none.
    borrowing func withAlpha() throws(ImagingError) -> VipsImage {
        guard !hasAlpha else { return try duplicate() }
        return try unsafe derived(shim_add_alpha(raw))
    }

    /// Multiplies colours by alpha; samples are cut to 8 bits, which costs nothing where alpha is full.
    borrowing func premultiplied() throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_premultiply(raw)).castToBytes()
    }

    /// Divides colours by alpha, rounding to 8 bits.
    borrowing func unpremultiplied() throws(ImagingError) -> VipsImage {
        let divided = try unsafe derived(shim_unpremultiply(raw))
        return try unsafe divided.derived(shim_linear(divided.raw, 1, 0.5))
    }

    /// Puts the image onto an opaque colour; nothing changes without alpha.
    borrowing func flattened(onto color: PixelColor) throws(ImagingError) -> VipsImage {
        guard hasAlpha else { return try duplicate() }
        let background = isGrey ? [Double(color.red)] : Array(color.components.prefix(3))
        return try unsafe derived(shim_flatten(raw, background, CInt(background.count)))
    }

    /// Returns an image of this size in one colour, with alpha.
    borrowing func uniform(_ color: PixelColor) throws(ImagingError) -> VipsImage {
        try unsafe VipsImage(adopting: shim_uniform(raw, color.components, 4), isSequential: false)
    }

    /// Puts `overlay`, of the same size, onto this image.
    borrowing func composited(
        with overlay: borrowing VipsImage, mode: BlendMode
    ) throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_composite(raw, overlay.raw, mode.vips)).castToBytes()
    }

    /// Multiplies alpha by a mask of this size, 255 meaning that it stays.
    borrowing func masked(by mask: [UInt8]) throws(ImagingError) -> VipsImage {
        let image = try withAlpha()
        let size = image.size
        let cover = try unsafe VipsImage(
            adopting: shim_image_copying(mask, mask.count, CInt(size.width), CInt(size.height), 1),
            isSequential: false)
        let colors = CInt(image.bands - 1)
        let alpha = try unsafe image.derived(shim_bands(image.raw, colors, 1))
        let product = try unsafe alpha.derived(shim_multiply(alpha.raw, cover.raw))
        let scaled = try unsafe product.derived(shim_linear(product.raw, 1 / 255, 0.5))
        let color = try unsafe image.derived(shim_bands(image.raw, 0, colors))
        return try unsafe color.derived(shim_bandjoin(color.raw, scaled.raw))
    }

    /// Multiplies each pixel's colour by a 3 × 3 matrix; alpha stays.
    borrowing func recombined(by matrix: [Double]) throws(ImagingError) -> VipsImage {
        let size = bands
        var full = [Double](repeating: 0, count: size * size)
        for index in 0..<size { full[index * size + index] = 1 }
        for row in 0..<3 {
            for column in 0..<3 { full[row * size + column] = matrix[row * 3 + column] }
        }
        let mixed = try unsafe derived(shim_recombine(raw, full, CInt(size)))
        return try unsafe mixed.derived(shim_linear(mixed.raw, 1, 0.5))
    }

    /// Blurs by a Gaussian of `sigma` pixels; the image must not be sequential and alpha be premultiplied.
    borrowing func blurred(sigma: Double, smallest: Double) throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_gaussian_blur(raw, sigma, smallest))
    }
}

extension VipsImage {
    /// Makes an opaque picture of one colour.
    static func uniform(_ color: PixelColor, size: PixelSize) throws(ImagingError) -> VipsImage {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size.area * 3)
        for _ in 0..<size.area { bytes += [color.red, color.green, color.blue] }
        return try unsafe VipsImage(
            adopting: shim_image_copying(bytes, bytes.count, CInt(size.width), CInt(size.height), 3),
            isSequential: false)
    }
}
