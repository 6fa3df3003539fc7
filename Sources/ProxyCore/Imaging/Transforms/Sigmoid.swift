// SPDX-License-Identifier: Apache-2.0

import Glibc

/// `sigmoid:5` — changes the contrast of middle levels.
struct Sigmoid: CurveTransforming {
    static let name = "sigmoid"
    static let summary =
        "Changes the contrast of middle levels more than that of dark and light ones, by a sigmoid curve."
    static let parameters = [amount]

    private static let amount = TransformParameter(
        "amount", .number(-30...30), .required, "Above 0 more contrast, below 0 less; 0 leaves the picture.")

    let arguments: TransformArguments

    var curve: ToneCurve {
        let beta = arguments.number(Self.amount) ?? 0
        let steepness = abs(beta)
        func logistic(_ level: Double) -> Double { 1 / (1 + exp(steepness * (0.5 - level))) }
        let (low, high) = (logistic(0), logistic(1))
        switch beta {
        case 0: return .identity
        case ..<0:
            // The inverse function.
            return ToneCurve { level in 0.5 - log(1 / (low + level * (high - low)) - 1) / steepness }
        default: return ToneCurve { (logistic($0) - low) / (high - low) }
        }
    }
}
