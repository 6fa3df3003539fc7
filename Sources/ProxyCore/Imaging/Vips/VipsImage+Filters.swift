// SPDX-License-Identifier: Apache-2.0

import CVips

extension VipsImage {
    /// Changes the levels of all colour bands by one curve; alpha stays.
    borrowing func toned(by curve: ToneCurve) throws(ImagingError) -> VipsImage {
        let colors = [ToneCurve](repeating: curve, count: bands - (hasAlpha ? 1 : 0))
        return try lookedUp(in: hasAlpha ? colors + [.identity] : colors)
    }

    /// Changes the levels of each band by its own curve; there are as many curves as bands.
    borrowing func lookedUp(in curves: [ToneCurve]) throws(ImagingError) -> VipsImage {
        let table = (0...255).flatMap { level in curves.map { $0.levels[level] } }
        return try unsafe derived(shim_look_up(raw, table, CInt(curves.count)))
    }

    /// Multiplies alpha, which is added where there is none.
    borrowing func faded(by factor: Double) throws(ImagingError) -> VipsImage {
        let image = try withAlpha()
        let colors = [ToneCurve](repeating: .identity, count: image.bands - 1)
        return try image.lookedUp(in: colors + [ToneCurve { $0 * factor }])
    }

    /// Makes a mask of one band, 255 where a picture is to stay.
    static func cover(_ mask: [UInt8], _ size: PixelSize) throws(ImagingError) -> VipsImage {
        try unsafe VipsImage(
            adopting: shim_image_copying(mask, mask.count, CInt(size.width), CInt(size.height), 1),
            isSequential: false)
    }

    /// Multiplies alpha by a one-band image of this size, 255 meaning that it stays.
    borrowing func masked(by cover: borrowing VipsImage) throws(ImagingError) -> VipsImage {
        let image = try withAlpha()
        let colors = CInt(image.bands - 1)
        let alpha = try unsafe image.derived(shim_bands(image.raw, colors, 1))
        let product = try unsafe alpha.derived(shim_multiply(alpha.raw, cover.raw))
        let scaled = try unsafe product.derived(shim_linear(product.raw, 1 / 255, 0.5))
        let color = try unsafe image.derived(shim_bands(image.raw, 0, colors))
        return try unsafe color.derived(shim_bandjoin(color.raw, scaled.raw))
    }

    /// The same without alpha, which is there.
    borrowing func colorBands() throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_bands(raw, 0, CInt(bands - 1)))
    }

    /// Returns one band as an image of its own.
    borrowing func band(_ index: Int) throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_bands(raw, CInt(index), 1))
    }

    /// Multiplies each pixel's colour by a 3 × 3 matrix; alpha stays.
    borrowing func recombined(by matrix: ColorMatrix) throws(ImagingError) -> VipsImage {
        let size = bands
        var full = [Double](repeating: 0, count: size * size)
        for index in 0..<size { full[index * size + index] = 1 }
        for row in 0..<3 {
            for column in 0..<3 { full[row * size + column] = matrix.weights[row * 3 + column] }
        }
        return try unsafe derived(shim_recombine(raw, full, CInt(size))).roundedToBytes()
    }

    /// Blurs by a Gaussian of `sigma` pixels; the image must not be sequential.
    ///
    /// Alpha is premultiplied around it. Wide ones are computed at a smaller size, where nobody sees the difference; its
    /// edge pixels go on beside the picture before it is made smaller, since half the weight at an edge is theirs.
    borrowing func softened(sigma: Double) throws(ImagingError) -> VipsImage {
        guard sigma >= GaussianBounds.coarse else { return try softenedHere(sigma: sigma) }
        let margin = Int((sigma * GaussianBounds.reach).rounded(.up))
        let wide = PixelSize(size.width + 2 * margin, size.height + 2 * margin)
        return try surrounded(on: wide, left: margin, top: margin, by: .continued)
            .resized(to: wide.scaled(by: GaussianBounds.whenCoarse / sigma)).computed()
            .softenedHere(sigma: GaussianBounds.whenCoarse).resized(to: wide)
            .cropped(to: PixelRectangle(left: margin, top: margin, size: size))
    }

    private borrowing func softenedHere(sigma: Double) throws(ImagingError) -> VipsImage {
        let isFine = sigma < GaussianBounds.fine
        let smallest = isFine ? GaussianBounds.smallestFineWeight : GaussianBounds.smallestWeight
        guard hasAlpha else { return try blurred(sigma: sigma, smallest: smallest, exactly: isFine) }
        return try premultiplied().blurred(sigma: sigma, smallest: smallest, exactly: isFine)
            .unpremultiplied()
    }

    /// Blurs all bands by a Gaussian, cut off at a fraction of its peak.
    borrowing func blurred(
        sigma: Double, smallest: Double, exactly: Bool = false
    ) throws(ImagingError) -> VipsImage {
        let image = try unsafe derived(shim_gaussian_blur(raw, sigma, smallest, exactly ? 1 : 0))
        return try exactly ? image.roundedToBytes() : image.duplicate()
    }

    /// Returns this image × `weight` + `other` × `otherWeight` in the colour bands; alpha stays.
    borrowing func mixed(
        _ weight: Double, with other: borrowing VipsImage, _ otherWeight: Double
    ) throws(ImagingError) -> VipsImage {
        let colors = CInt(bands - (hasAlpha ? 1 : 0))
        let own = try unsafe derived(shim_bands(raw, 0, colors))
        let others = try unsafe other.derived(shim_bands(other.raw, 0, colors))
        let sum = try unsafe own.derived(shim_weighted_sum(own.raw, weight, others.raw, otherWeight))
        guard hasAlpha else { return sum }
        let alpha = try band(bands - 1)
        return try unsafe sum.derived(shim_bandjoin(sum.raw, alpha.raw))
    }

    /// Computes all pixels and returns their samples, row by row; reads the image once.
    borrowing func samples() throws(ImagingError) -> [UInt8] {
        var count = 0
        guard let memory = unsafe shim_pixels(raw, &count) else { throw VipsLibrary.failure() }
        defer { unsafe g_free(memory) }
        return unsafe Array(UnsafeRawBufferPointer(start: memory, count: count))
    }
}

/// How exactly Gaussians are computed.
private enum GaussianBounds {
    /// Where the Gaussian is cut off, as a fraction of its peak.
    static let smallestWeight = 0.02
    /// Below this many pixels the weights are fractions: whole numbers would miss them by too much.
    static let fine = 3.0
    /// Where such a Gaussian is cut off.
    static let smallestFineWeight = 0.002
    /// From this many pixels on, the picture is blurred at a smaller size.
    static let coarse = 16.0
    /// How far pixels count, in standard deviations.
    static let reach = 3.0
    /// What sigma then is at the smaller size.
    static let whenCoarse = 8.0
}
