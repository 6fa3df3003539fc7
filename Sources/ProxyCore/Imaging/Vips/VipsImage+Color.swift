// SPDX-License-Identifier: Apache-2.0

import CVips
import Primitives

extension VipsImage {
    /// Converts samples to 8 bits, and removes bands that are neither colour nor alpha; the colour space does
    /// not change, except that float samples become sRGB.
    borrowing func inEightBits() throws(ImagingError) -> VipsImage { try narrowed().withKnownBands() }

    /// Removes a TIFF's bands beyond colours and one band that counts as alpha: masks, spot colours.
    private borrowing func withKnownBands() throws(ImagingError) -> VipsImage {
        let colors =
            switch unsafe vips_image_get_interpretation(raw) {
            case VIPS_INTERPRETATION_B_W: 1
            case VIPS_INTERPRETATION_CMYK: 4
            default: bands < 3 ? 1 : 3
            }
        let isNamed = unsafe bands > 2 || vips_image_get_interpretation(raw) == VIPS_INTERPRETATION_B_W
        guard bands > colors + 1 || !isNamed else { return try duplicate() }
        let kept = min(bands, colors + 1)
        let cut = try unsafe derived(shim_bands(raw, 0, CInt(kept)))
        return kept > 2 ? cut : try unsafe cut.derived(shim_reinterpret(cut.raw, VIPS_INTERPRETATION_B_W))
    }

    private borrowing func narrowed() throws(ImagingError) -> VipsImage {
        switch unsafe vips_image_get_format(raw) {
        // Else it is CIELAB in packed bytes.
        case VIPS_FORMAT_UCHAR where unsafe vips_image_get_coding(raw) == VIPS_CODING_NONE:
            return try duplicate()
        case VIPS_FORMAT_USHORT:
            let narrow = try unsafe derived(shim_cast(raw, VIPS_FORMAT_UCHAR, 1))
            return try narrow.renamingSixteenBitSpace()
        case VIPS_FORMAT_UINT:
            return try unsafe derived(shim_cast(raw, VIPS_FORMAT_UCHAR, 1))
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

    borrowing func castToBytes() throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_cast(raw, VIPS_FORMAT_UCHAR, 0))
    }

    /// Converts to sRGB, with the embedded profile if there is one; input and output have 8 bits.
    ///
    /// - Parameter keepsGrey: whether grey without a profile may remain one band.
    package borrowing func inSRGB(keepsGrey: Bool) throws(ImagingError) -> VipsImage {
        let space = unsafe vips_image_get_interpretation(raw)
        let isCMYK = space == VIPS_INTERPRETATION_CMYK
        if needsConversion {
            let image = try withUsedTables()
            return try unsafe derived(shim_icc_to_srgb(image.raw, isCMYK ? "cmyk" : "srgb"))
        }
        if space == VIPS_INTERPRETATION_sRGB { return try duplicate() }
        if isCMYK { return try inLightOfInk() }
        if space == VIPS_INTERPRETATION_B_W, keepsGrey { return try duplicate() }
        return try unsafe derived(shim_colourspace(raw, VIPS_INTERPRETATION_sRGB)).castToBytes()
    }

    /// Renames the only table of a profile, which is for another intent, to the one for relative colours:
    /// libvips 8.14 would use sRGB instead of the profile. XYB JPEGs and pictures of scanners have such
    /// profiles. And removes the names of chains of elements, which could compute for minutes.
    private borrowing func withUsedTables() throws(ImagingError) -> VipsImage {
        var profile = blob("icc-profile-data") ?? []
        let (only, chains) = unsafe profile.withUnsafeBytes { bytes in
            let profile = unsafe ColorProfile(bytes)
            return (profile.placeOfOnlyTable, profile.placesOfChains)
        }
        let own = try duplicate()
        guard only != nil || !chains.isEmpty else { return own }
        if let only { profile.replaceSubrange(only..<only + 4, with: ColorProfile.relativeTable.utf8) }
        // Still names that differ, as Little CMS requires.
        for place in chains { profile[place] = UInt8(ascii: "x") }
        own.set("icc-profile-data", to: profile)
        return own
    }

    /// Converts CMYK without a profile as browsers do: each ink transmits the rest of its light, (1 − C)(1 −
    /// K).
    private borrowing func inLightOfInk() throws(ImagingError) -> VipsImage {
        let paper = try unsafe derived(shim_linear(raw, -1, 255))
        let colors = try unsafe derived(shim_bands(paper.raw, 0, 3))
        let black = try unsafe derived(shim_bands(paper.raw, 3, 1))
        let product = try unsafe derived(shim_multiply(colors.raw, black.raw))
        let light = try unsafe derived(shim_linear(product.raw, 1.0 / 255, 0.5))
        guard hasAlpha else {
            return try unsafe derived(shim_reinterpret(light.raw, VIPS_INTERPRETATION_sRGB))
        }
        let alpha = try unsafe derived(shim_bands(raw, CInt(bands - 1), 1))
        let both = try unsafe derived(shim_bandjoin(light.raw, alpha.raw))
        return try unsafe derived(shim_reinterpret(both.raw, VIPS_INTERPRETATION_sRGB))
    }

    /// Whether an embedded profile fits these pixels and is not the usual sRGB one. libvips would use a grey
    /// picture's profile as one for colours.
    private var needsConversion: Bool {
        var length = 0
        guard let bytes = unsafe shim_blob_field(raw, "icc-profile-data", &length) else { return false }
        let profile = unsafe ColorProfile(UnsafeRawBufferPointer(start: bytes, count: length))
        return profile.space == profileSpace && !profile.isUsualSRGB
    }

    /// The colour space that a profile for these pixels names (ICC.1:2010 §7.2.6).
    private var profileSpace: String {
        if unsafe vips_image_get_interpretation(raw) == VIPS_INTERPRETATION_CMYK { return "CMYK" }
        return isGrey ? "GRAY" : "RGB "
    }

    /// Converts grey to three bands, so that colours can be drawn.
    borrowing func inColor() throws(ImagingError) -> VipsImage {
        guard isGrey else { return try duplicate() }
        return try unsafe derived(shim_colourspace(raw, VIPS_INTERPRETATION_sRGB)).castToBytes()
    }

    /// Adds an opaque alpha band if there is none.
    borrowing func withAlpha() throws(ImagingError) -> VipsImage {
        guard !hasAlpha else { return try duplicate() }
        return try unsafe derived(shim_add_alpha(raw))
    }

    /// Multiplies colours by alpha and rounds to 8 bits: truncation would darken them each time.
    borrowing func premultiplied() throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_premultiply(raw))
    }

    /// Divides colours by alpha and rounds to 8 bits.
    borrowing func unpremultiplied() throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_unpremultiply(raw))
    }

    /// The mean of the colours, weighted by alpha, opaque; the first frame decides for all: borders that change would flicker.
    /// The image must not be sequential.
    borrowing func meanColor(in context: inout TransformContext) throws(ImagingError) -> PixelColor {
        let mean = try context.once { () throws(ImagingError) in
            try inColor().resized(to: PixelSize(1, 1)).computed()
        }
        let samples = try mean.samples()
        return PixelColor(red: samples[0], green: samples[1], blue: samples[2], alpha: .max)
    }

    /// Composes the image on an opaque colour; an image without alpha is unchanged.
    borrowing func flattened(onto color: PixelColor) throws(ImagingError) -> VipsImage {
        guard hasAlpha else { return try duplicate() }
        let background = isGrey ? [Double(color.red)] : Array(color.components.prefix(3))
        return try unsafe derived(shim_flatten(raw, background, CInt(background.count)))
    }

    /// Returns an image of this size in one colour, with alpha.
    borrowing func uniform(_ color: PixelColor) throws(ImagingError) -> VipsImage {
        try unsafe VipsImage(adopting: shim_uniform(raw, color.components, 4), isSequential: false)
    }

    /// Composes `overlay`, of the same size, over this image, both in colour.
    borrowing func covered(by overlay: borrowing VipsImage) throws(ImagingError) -> VipsImage {
        try unsafe VipsImage(
            adopting: shim_composite(raw, overlay.raw, VIPS_BLEND_MODE_OVER),
            isSequential: isSequential || overlay.isSequential
        ).roundedToBytes()
    }

    /// Adds `other`, of the same size, to this image, both in colour and weighted by alpha, as parts of one
    /// picture.
    borrowing func completed(by other: borrowing VipsImage) throws(ImagingError) -> VipsImage {
        try unsafe VipsImage(
            adopting: shim_composite(raw, other.raw, VIPS_BLEND_MODE_ADD),
            isSequential: isSequential || other.isSequential
        ).roundedToBytes()
    }

    /// Rounds float samples.
    borrowing func roundedToBytes() throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_linear(raw, 1, 0.5))
    }
}

extension VipsImage {
    /// Composes a picture with alpha over this one; the part outside is cut, and this one's alpha band, if
    /// any, is unchanged.
    borrowing func stamped(
        with mark: borrowing VipsImage, at place: (left: Int, top: Int)
    ) throws(ImagingError) -> VipsImage {
        let whole = PixelRectangle(left: place.left, top: place.top, size: mark.size)
        guard let target = whole.clamped(to: size) else { return try duplicate() }
        // Read twice: for the pixels below the overlay, and for those beside it.
        let base = try inMemory().inColor()
        let part = PixelRectangle(
            left: target.left - place.left, top: target.top - place.top, size: target.size)
        let mixed = try base.cropped(to: target).covered(by: mark.inColor().cropped(to: part))
        let fitting = try unsafe mixed.derived(shim_bands(mixed.raw, 0, CInt(base.bands)))
        return try base.inserting(fitting, left: target.left, top: target.top)
    }
}

extension VipsImage {
    /// Draws text in one band, 255 for letters.
    ///
    /// - Parameters:
    ///   - font: family, style and size in pixels, in Pango's syntax.
    ///   - width: the width at which lines break, in pixels.
    /// - Throws: `emptyResult` if the text has no visible pixel.
    package static func text(_ text: String, font: String, width: Int) throws(ImagingError) -> VipsImage {
        try VipsLibrary.start()
        guard let made = unsafe shim_text(escaped(text), font, CInt(clamping: width)) else {
            _ = VipsLibrary.failure()
            throw .emptyResult("the text has no visible pixel")
        }
        return try unsafe VipsImage(adopting: made, isSequential: false).inMemory()
    }

    /// Escapes Pango's markup, byte by byte as Pango reads it: within a longer `Character` it would be overlooked.
    private static func escaped(_ text: String) -> String {
        var result: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): result += "&amp;".utf8
            case UInt8(ascii: "<"): result += "&lt;".utf8
            case UInt8(ascii: ">"): result += "&gt;".utf8
            default: result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Creates an opaque picture of one colour.
    package static func uniform(_ color: PixelColor, size: PixelSize) throws(ImagingError) -> VipsImage {
        let components = [color.red, color.green, color.blue]
        let bytes = (0..<size.area * 3).map { components[$0 % 3] }
        return try unsafe VipsImage(
            adopting: shim_image_copying(bytes, bytes.count, CInt(size.width), CInt(size.height), 3),
            isSequential: false)
    }
}
