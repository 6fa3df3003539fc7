// SPDX-License-Identifier: Apache-2.0

/// `channels:1.2:1:0.8:add_blue=-20` — changes red, green and blue each on its own.
struct Channels: ImageTransforming {
    static let name = "channels"
    static let summary = "Multiplies each encoded colour channel, and adds levels to it."
    static let parameters = factors + additions

    private static let names = ["red", "green", "blue"]
    private static let factors = names.map { name in
        TransformParameter(
            name, .number(-10...10), .value(.number(FixedNumber(1))), "What \(name) is multiplied by.")
    }
    private static let additions = names.map { name in
        TransformParameter(
            "add_\(name)", .number(-255...255), .value(.number(FixedNumber(0))),
            "The levels that are then added to \(name), of 255.")
    }

    let arguments: TransformArguments
    private let curves: [ToneCurve]

    init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        curves = zip(Self.factors, Self.additions).map { factor, addition in
            let gain = arguments.number(factor) ?? 1
            let offset = (arguments.number(addition) ?? 0) / 255
            return ToneCurve { $0 * gain + offset }
        }
    }

    func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        try image.toned(by: curves)
    }
}
