// SPDX-License-Identifier: Apache-2.0

/// `brightness:1.2` — makes the picture lighter or darker.
struct Brightness: CurveTransforming {
    static let name = "brightness"
    static let summary = "Multiplies the encoded colours, as CSS brightness() does."
    static let parameters = [amount]

    private static let amount = TransformParameter(
        "amount", .number(0...10), .required, "0 is black, 1 leaves the picture.")

    let arguments: TransformArguments

    var curve: ToneCurve {
        let amount = arguments.number(Self.amount) ?? 1
        return ToneCurve { $0 * amount }
    }
}
