// SPDX-License-Identifier: Apache-2.0

/// `saturation:1.5` — makes colours stronger or weaker.
struct Saturation: MatrixTransforming {
    static let name = "saturation"
    static let summary = "Moves the encoded colours away from grey or towards it, as CSS saturate() does."
    static let parameters = [amount]

    private static let amount = TransformParameter(
        "amount", .number(0...10), .required, "0 leaves no colour, 1 leaves the picture.")

    let arguments: TransformArguments
    let matrix: ColorMatrix

    init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        matrix = .blend(toward: Self.grey, by: 1 - (arguments.number(Self.amount) ?? 1))
    }

    /// The weights in the definition of saturate(), with three digits (Filter Effects Module Level 1 §9.6).
    private static let grey: [Double] = (0..<3).flatMap { _ in [0.213, 0.715, 0.072] }
}
