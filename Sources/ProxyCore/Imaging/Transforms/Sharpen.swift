// SPDX-License-Identifier: Apache-2.0

/// `sharpen:1:0.8` — sharpens edges.
struct Sharpen: ImageTransforming {
    static let name = "sharpen"
    static let summary = "Sharpens by an unsharp mask: adds the difference to a blurred copy."
    static let parameters = [sigma, amount]

    private static let sigma = TransformParameter(
        "sigma", .number(FixedNumber(thousandths: 100)...250),
        .value(.number(FixedNumber(thousandths: 500))), isScaled: true,
        "The standard deviation of the blur, in pixels.")
    private static let amount = TransformParameter(
        "amount", .number(0...10), .value(.number(1)), "How much of the difference is added.")

    var cost: PixelCost { PixelCost(work: 6.2, memory: 4) }

    let arguments: TransformArguments

    func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage {
        try image.inMemory().sharpened(
            by: arguments.number(Self.amount) ?? 1, sigma: arguments.number(Self.sigma) ?? 1)
    }
}
