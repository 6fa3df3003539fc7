// SPDX-License-Identifier: Apache-2.0

/// `grayscale` — removes the colour, completely or partly.
struct Grayscale: MatrixTransforming {
    static let name = "grayscale"
    static let summary = "Takes the colour out, as CSS grayscale() does on encoded sRGB."
    static let parameters = [amount, weights]

    private static let amount = TransformParameter(
        "amount", .number(0...1), .value(.number(1)), "0 leaves the picture, 1 leaves no colour."
    )
    private static let weights = TransformParameter(
        "weights", .word(["css", "bt601"]), .value(.word("css")),
        "How much red, green and blue count: as in CSS, or as in BT.601 (0.299, 0.587, 0.114), as Pillow has it."
    )

    static let toleratesIntermediate = true

    let arguments: TransformArguments

    var matrix: ColorMatrix {
        let grey = arguments[Self.weights] == .word("bt601") ? Self.bt601 : ColorMatrix.grey
        return .blend(toward: grey, by: arguments.number(Self.amount) ?? 1)
    }

    /// The luma of ITU-R BT.601.
    private static let bt601: [Double] = (0..<3).flatMap { _ in [0.299, 0.587, 0.114] }
}
