// SPDX-License-Identifier: Apache-2.0

/// `grayscale` — removes the colour, completely or partly.
package struct Grayscale: MatrixTransforming {
    package static let name = "grayscale"
    package static let summary = "Takes the colour out, as CSS grayscale() does on encoded sRGB."
    package static let parameters = [amount]

    private static let amount = TransformParameter(
        "amount", .number(0...1), .value(.number(1)), "0 leaves the picture, 1 leaves no colour."
    )

    package let arguments: TransformArguments
    package let matrix: ColorMatrix

    package init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        matrix = .blend(toward: ColorMatrix.grey, by: arguments.number(Self.amount) ?? 1)
    }
}
