// SPDX-License-Identifier: Apache-2.0

/// `grayscale` — takes the colour out, wholly or partly.
struct Grayscale: ImageTransforming {
    static let name = "grayscale"
    static let summary = "Takes the colour out, as CSS grayscale() does on encoded sRGB."
    static let parameters = [amount]

    private static let amount = TransformParameter(
        "amount", .number(0...1), .value(.number(FixedNumber(1))), "0 leaves the picture, 1 leaves no colour."
    )

    /// Luminance of red, green and blue (Filter Effects Module Level 1 §13.1.1).
    private static let weights = [0.2126, 0.7152, 0.0722]

    let arguments: TransformArguments
    private let strength: Double

    init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        strength = arguments.number(Self.amount) ?? 1
    }

    func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        guard !image.isGrey else { return image }
        return try image.recombined(by: matrix)
    }

    private var matrix: [Double] {
        (0..<9).map { index in
            let row = index / 3
            let column = index % 3
            return Self.weights[column] * strength + (row == column ? 1 - strength : 0)
        }
    }
}
