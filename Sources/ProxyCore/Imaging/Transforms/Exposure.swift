// SPDX-License-Identifier: Apache-2.0

import Glibc

/// `exposure:-1.5` — changes the exposure in stops.
struct Exposure: CurveTransforming {
    static let name = "exposure"
    static let summary = "Multiplies linear light by a power of two, clipping what gets brighter than white."
    static let parameters = [amount]

    private static let amount = TransformParameter(
        "amount", .number(-5...5), .required, "Stops (EV); 0 leaves the picture, 1 doubles the light.")

    let arguments: TransformArguments

    var curve: ToneCurve {
        let gain = exp2(arguments.number(Self.amount) ?? 0)
        return ToneCurve { gain == 1 ? $0 : ToneCurve.encoded(min(1, ToneCurve.linear($0) * gain)) }
    }
}
