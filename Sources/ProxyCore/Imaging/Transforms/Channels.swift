// SPDX-License-Identifier: Apache-2.0

/// `channels:1.1:1:0.9:10` — changes red, green and blue each on its own.
struct Channels: ImageTransforming {
    static let name = "channels"
    static let summary = "Multiplies each encoded channel and adds levels to it."
    static let parameters = factors + sums

    private static let factors = ["red", "green", "blue"].map { name in
        TransformParameter(
            name, .number(-10...10), .value(.number(FixedNumber(1))), "What \(name) is multiplied by.")
    }
    private static let sums = ["red", "green", "blue"].map { name in
        TransformParameter(
            "add_\(name)", .number(-255...255), .value(.number(FixedNumber(0))),
            "The levels added to \(name) then.")
    }

    let arguments: TransformArguments

    func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage {
        let curves = zip(Self.factors, Self.sums).map { factor, sum in
            let (slope, level) = (arguments.number(factor) ?? 1, arguments.number(sum) ?? 0)
            return ToneCurve { $0 * slope + level / 255 }
        }
        return try image.toned(byEach: curves)
    }
}
