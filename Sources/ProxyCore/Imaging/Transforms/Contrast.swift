// SPDX-License-Identifier: Apache-2.0

/// `contrast:1.3` — raises or lowers the contrast.
struct Contrast: CurveTransforming {
    static let name = "contrast"
    static let summary = "Stretches the encoded colours away from middle grey, as CSS contrast() does."
    static let parameters = [amount]

    private static let amount = TransformParameter(
        "amount", .number(0...10), .required, "0 is grey, 1 leaves the picture.")

    let arguments: TransformArguments

    var curve: ToneCurve {
        let amount = arguments.number(Self.amount) ?? 1
        return ToneCurve { ($0 - 0.5) * amount + 0.5 }
    }
}
