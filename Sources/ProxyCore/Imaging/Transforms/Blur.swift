// SPDX-License-Identifier: Apache-2.0

/// `blur:5` — blurs with a Gaussian.
struct Blur: ImageTransforming {
    static let name = "blur"
    static let summary = "Blurs by a Gaussian."
    static let parameters = [sigma]

    private static let sigma = TransformParameter(
        "sigma", .number(FixedNumber(thousandths: 100)...250), .required, isScaled: true,
        "The Gaussian's standard deviation in pixels.")

    var cost: PixelCost { PixelCost(work: 5.2, memory: 4) }
    static let toleratesIntermediate = true

    let arguments: TransformArguments

    func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage {
        try image.inMemory().softened(sigma: arguments.number(Self.sigma) ?? 1)
    }
}
