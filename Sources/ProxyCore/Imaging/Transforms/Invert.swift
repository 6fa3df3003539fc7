// SPDX-License-Identifier: Apache-2.0

/// `invert` — inverts the levels.
struct Invert: CurveTransforming {
    static let name = "invert"
    static let summary = "Inverts the encoded colours, as CSS invert() does."
    static let parameters = [amount]

    private static let amount = TransformParameter(
        "amount", .number(0...1), .value(.number(1)),
        "0 leaves the picture, 1 inverts it wholly.")

    static let toleratesIntermediate = true

    let arguments: TransformArguments

    var curve: ToneCurve {
        let amount = arguments.number(Self.amount) ?? 1
        return ToneCurve { $0 + (1 - 2 * $0) * amount }
    }
}
