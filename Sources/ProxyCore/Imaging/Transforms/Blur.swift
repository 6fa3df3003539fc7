// SPDX-License-Identifier: Apache-2.0

/// `blur:5` — blurs by a Gaussian.
struct Blur: ImageTransforming {
    static let name = "blur"
    static let summary = "Blurs by a Gaussian."
    static let parameters = [sigma]

    private static let sigma = TransformParameter(
        "sigma", .fineNumber(FixedNumber(thousandths: 100)...FixedNumber(250)), .required, isScaled: true,
        "The Gaussian's standard deviation in pixels.")

    /// Where the Gaussian is cut off, as a fraction of its peak.
    private static let smallestWeight = 0.02
    /// From this many pixels on, the picture is blurred at a smaller size, where nobody sees the difference.
    private static let coarseSigma = 16.0
    /// What sigma then is at the smaller size.
    private static let sigmaWhenCoarse = 8.0

    let arguments: TransformArguments
    private let deviation: Double

    init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        deviation = arguments.number(Self.sigma) ?? 1
    }

    func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        let size = image.size
        let ready = try image.inMemory()
        guard deviation >= Self.coarseSigma else { return try blurred(ready, deviation) }
        let small = size.scaled(by: Self.sigmaWhenCoarse / deviation)
        return try blurred(ready.resized(to: small).inMemory(), Self.sigmaWhenCoarse).resized(to: size)
    }

    private func blurred(_ image: borrowing VipsImage, _ sigma: Double) throws(ImagingError) -> VipsImage {
        guard image.hasAlpha else { return try image.blurred(sigma: sigma, smallest: Self.smallestWeight) }
        return try image.premultiplied().blurred(sigma: sigma, smallest: Self.smallestWeight)
            .unpremultiplied()
    }
}
