// SPDX-License-Identifier: Apache-2.0

import Glibc

/// `gamma:0.8` — changes the middle tones.
struct Gamma: CurveTransforming {
    static let name = "gamma"
    static let summary = "Raises the encoded colours to a power; below 1 lightens, above 1 darkens."
    static let parameters = [amount]

    private static let amount = TransformParameter(
        "amount", .number(FixedNumber(thousandths: 100)...10), .required,
        "The exponent; 1 leaves the picture.")

    let arguments: TransformArguments

    var curve: ToneCurve {
        let amount = arguments.number(Self.amount) ?? 1
        return ToneCurve { pow($0, amount) }
    }
}
