// SPDX-License-Identifier: Apache-2.0

import CVips

extension VipsImage {
    /// Changes the levels of red, green and blue by a curve each; alpha is unchanged.
    borrowing func toned(byEach curves: [ToneCurve]) throws(ImagingError) -> VipsImage {
        if curves.allSatisfy({ $0 == curves[0] }) { return try toned(by: curves[0]) }
        let colored = try inColor()
        return try colored.lookedUp(in: colored.hasAlpha ? curves + [.identity] : curves)
    }

    /// Changes the levels of all colour bands by one curve; alpha is unchanged.
    borrowing func toned(by curve: ToneCurve) throws(ImagingError) -> VipsImage {
        let colors = [ToneCurve](repeating: curve, count: bands - (hasAlpha ? 1 : 0))
        return try lookedUp(in: hasAlpha ? colors + [.identity] : colors)
    }

    /// Changes the levels of each band by its own curve; there are as many curves as bands.
    borrowing func lookedUp(in curves: [ToneCurve]) throws(ImagingError) -> VipsImage {
        let table = (0...255).flatMap { level in curves.map { $0.levels[level] } }
        return try unsafe derived(shim_look_up(raw, table, CInt(curves.count)))
    }

    /// Multiplies alpha, which is added if it is missing.
    borrowing func faded(by factor: Double) throws(ImagingError) -> VipsImage {
        let image = try withAlpha()
        let colors = [ToneCurve](repeating: .identity, count: image.bands - 1)
        return try image.lookedUp(in: colors + [ToneCurve { $0 * factor }])
    }

    /// Creates a mask of one band, 255 where a picture stays visible.
    static func cover(_ mask: [UInt8], _ size: PixelSize) throws(ImagingError) -> VipsImage {
        try unsafe VipsImage(
            adopting: shim_image_copying(mask, mask.count, CInt(size.width), CInt(size.height), 1),
            isSequential: false)
    }

    /// Multiplies alpha by a one-band image of this size, in which 255 leaves it unchanged.
    borrowing func masked(by cover: borrowing VipsImage) throws(ImagingError) -> VipsImage {
        let image = try withAlpha()
        let colors = CInt(image.bands - 1)
        let alpha = try unsafe image.derived(shim_bands(image.raw, colors, 1))
        let product = try unsafe alpha.derived(shim_multiply(alpha.raw, cover.raw))
        let scaled = try unsafe product.derived(shim_linear(product.raw, 1 / 255, 0.5))
        let color = try unsafe image.derived(shim_bands(image.raw, 0, colors))
        return try unsafe color.derived(shim_bandjoin(color.raw, scaled.raw))
    }

    /// Returns the image without its alpha band, which must exist.
    borrowing func colorBands() throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_bands(raw, 0, CInt(bands - 1)))
    }

    /// Returns one band as an image of its own.
    borrowing func band(_ index: Int) throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_bands(raw, CInt(index), 1))
    }

    /// Multiplies each pixel's colour by a 3 × 3 matrix; alpha is unchanged.
    borrowing func recombined(by matrix: ColorMatrix) throws(ImagingError) -> VipsImage {
        let size = bands
        var full = [Double](repeating: 0, count: size * size)
        for index in 0..<size { full[index * size + index] = 1 }
        for row in 0..<3 {
            for column in 0..<3 { full[row * size + column] = matrix.weights[row * 3 + column] }
        }
        return try unsafe derived(shim_recombine(raw, full, CInt(size))).roundedToBytes()
    }

    /// Blurs by a Gaussian of `sigma` pixels, with premultiplied alpha; the image must not be sequential.
    borrowing func softened(sigma: Double) throws(ImagingError) -> VipsImage {
        guard hasAlpha else { return try blurred(sigma: sigma) }
        return try premultiplied().blurred(sigma: sigma).unpremultiplied()
    }

    /// Blurs all bands alike.
    ///
    /// A wide blur is computed at a smaller size, without visible difference. Edge pixels are repeated
    /// outside the picture before it is shrunk, because half the weight at an edge is theirs.
    private borrowing func blurred(sigma: Double) throws(ImagingError) -> VipsImage {
        let doublings = Gaussian.doublings(for: sigma)
        guard doublings > 0 else { return try blurredExactly(sigma: sigma) }
        let factor = 1 << doublings
        let margin = Int((sigma * Gaussian.reach).rounded(.up)).roundedUp(to: factor)
        let wide = PixelSize(
            (size.width + 2 * margin).roundedUp(to: factor), (size.height + 2 * margin).roundedUp(to: factor))
        let small = PixelSize(wide.width / factor, wide.height / factor)
        var image = try surrounded(on: wide, left: margin, top: margin, by: .continued)
            .resampled(to: small).computed()
            .blurredExactly(sigma: Gaussian.remaining(of: sigma, doublings: doublings)).computed()
        for _ in 0..<doublings { image = try unsafe image.derived(shim_double(image.raw)) }
        return try image.cropped(to: PixelRectangle(left: margin, top: margin, size: size))
    }

    /// Uses float weights: integer weights, libvips' fast approximation, change uniform colours.
    private borrowing func blurredExactly(sigma: Double) throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_gaussian_blur(raw, sigma, Gaussian.smallestWeight)).roundedToBytes()
    }

    /// Adds to the colours `amount` times the detail that a blur by `sigma` removes; alpha is unchanged.
    ///
    /// The image must not be sequential.
    borrowing func sharpened(by amount: Double, sigma: Double) throws(ImagingError) -> VipsImage {
        let soft = try softened(sigma: sigma)
        guard hasAlpha else { return try unsafe derived(shim_unsharp(raw, raw, soft.raw, amount)) }
        // A colour that is multiplied by alpha and divided again may change, which must not count as an edge.
        let flat = try premultiplied().unpremultiplied().colorBands()
        let softColors = try soft.colorBands()
        return try onColors { own throws(ImagingError) in
            try unsafe own.derived(shim_unsharp(own.raw, flat.raw, softColors.raw, amount))
        }
    }

    /// Computes all pixels and returns their samples, row by row; reads the image once.
    borrowing func samples() throws(ImagingError) -> [UInt8] {
        var count = 0
        guard let memory = unsafe shim_pixels(raw, &count) else { throw VipsLibrary.failure() }
        defer { unsafe g_free(memory) }
        return unsafe Array(UnsafeRawBufferPointer(start: memory, count: count))
    }
}

/// The accuracy of Gaussians.
private enum Gaussian {
    /// The weight at which a Gaussian is cut off, as a fraction of its peak.
    static let smallestWeight = 0.002
    /// From this many pixels on, the picture is blurred at a smaller size, where sigma is less than this.
    static let wide = 3.0
    /// The distance up to which pixels count, in standard deviations.
    static let reach = 3.0

    /// How many times the picture is halved.
    static func doublings(for sigma: Double) -> Int {
        sigma < wide ? 0 : 1 + doublings(for: sigma / 2)
    }

    /// The remaining sigma at the smaller size, because linear interpolation also blurs: doubling once has a
    /// variance of ¾ of a pixel, and each earlier doubling four times that of the next.
    static func remaining(of sigma: Double, doublings: Int) -> Double {
        let factor = Double(1 << doublings)
        return (sigma * sigma - (factor * factor - 1) / 4).squareRoot() / factor
    }
}

extension Int {
    fileprivate func roundedUp(to step: Int) -> Int { (self + step - 1) / step * step }
}
