// SPDX-License-Identifier: Apache-2.0

/// `sepia` — tones the picture brown.
package struct Sepia: MatrixTransforming {
    package static let name = "sepia"
    package static let summary = "Tones brown, as CSS sepia() does."
    package static let parameters = [amount]

    private static let amount = TransformParameter(
        "amount", .number(0...1), .value(.number(1)), "0 leaves the picture, 1 tones it wholly.")

    package static let toleratesIntermediate = true

    package let arguments: TransformArguments
    package let matrix: ColorMatrix

    package init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        matrix = .blend(toward: Self.brown, by: arguments.number(Self.amount) ?? 1)
    }

    package static let keepsGrey = false

    /// Filter Effects Module Level 1 §13.1.2.
    private static let brown = [0.393, 0.769, 0.189, 0.349, 0.686, 0.168, 0.272, 0.534, 0.131]
}
