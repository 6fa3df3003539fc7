// SPDX-License-Identifier: Apache-2.0

/// `noise:20` — adds grain.
struct Noise: ImageTransforming {
    static let name = "noise"
    static let summary = "Adds grain: to each pixel a random number of levels, the same to all its colours."
    static let parameters = [amount, seed]

    private static let amount = TransformParameter(
        "amount", .number(0...100), .required, "The standard deviation, in levels of 255.")
    private static let seed = TransformParameter(
        "seed", .whole(0...999_999_999), .value(.number(FixedNumber(1))),
        "Another number gives other grain; the same one always the same.")

    let arguments: TransformArguments
    private let deviation: Double
    private let start: Int

    init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        deviation = arguments.number(Self.amount) ?? 0
        start = Int(arguments.number(Self.seed) ?? 1)
    }

    func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        try deviation > 0 ? image.grained(by: deviation, seed: start) : image
    }
}
