// SPDX-License-Identifier: Apache-2.0

/// `noise:20` — adds grain.
struct Noise: ImageTransforming {
    static let name = "noise"
    static let summary = "Adds grain, the same to each channel of a pixel."
    static let parameters = [amount, seed]

    private static let amount = TransformParameter(
        "amount", .number(0...100), .required, "The standard deviation in levels.")
    private static let seed = TransformParameter(
        "seed", .whole(0...99_999), .value(.number(FixedNumber(1))), "Equal seeds give equal grain.")

    var cost: PixelCost { PixelCost(work: 4, memory: 8) }

    let arguments: TransformArguments

    func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage {
        let deviation = arguments.number(Self.amount) ?? 0
        let seed = Int(arguments.number(Self.seed) ?? 1)
        return try image.onColors { colors throws(ImagingError) in
            try colors.grained(by: deviation, seed: seed)
        }
    }
}
