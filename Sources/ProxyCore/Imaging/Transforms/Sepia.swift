// SPDX-License-Identifier: Apache-2.0

/// `sepia` — tones the picture brown.
struct Sepia: MatrixTransforming {
    static let name = "sepia"
    static let summary = "Tones brown, as CSS sepia() does."
    static let parameters = [amount]

    private static let amount = TransformParameter(
        "amount", .number(0...1), .value(.number(1)), "0 leaves the picture, 1 tones it wholly.")

    static let toleratesIntermediate = true

    let arguments: TransformArguments

    var matrix: ColorMatrix { .blend(toward: Self.brown, by: arguments.number(Self.amount) ?? 1) }

    static let keepsGrey = false

    /// Filter Effects Module Level 1 §13.1.2.
    private static let brown = [0.393, 0.769, 0.189, 0.349, 0.686, 0.168, 0.272, 0.534, 0.131]
}
