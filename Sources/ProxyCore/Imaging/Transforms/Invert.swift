// SPDX-License-Identifier: Apache-2.0

/// `invert` — inverts the levels.
package struct Invert: CurveTransforming {
    package static let name = "invert"
    package static let summary = "Inverts the encoded colours, as CSS invert() does."
    package static let parameters = [amount]

    private static let amount = TransformParameter(
        "amount", .number(0...1), .value(.number(1)),
        "0 leaves the picture, 1 inverts it wholly.")

    package static let toleratesIntermediate = true

    package let arguments: TransformArguments
    package let curve: ToneCurve

    package init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        let amount = arguments.number(Self.amount) ?? 1
        curve = ToneCurve { $0 + (1 - 2 * $0) * amount }
    }
}
