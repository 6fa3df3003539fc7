// SPDX-License-Identifier: Apache-2.0

/// `saturation:1.5` — makes colours stronger or weaker.
struct Saturation: MatrixTransforming {
    static let name = "saturation"
    static let summary =
        "Moves the encoded colours away from grey or towards it, as CSS saturate() does."
    static let parameters = [amount, grey]

    private static let amount = TransformParameter(
        "amount", .number(0...10), .required, "0 leaves no colour, 1 leaves the picture.")

    private static let grey = TransformParameter(
        "grey", .word(["css", "perceived"]), .value(.word("css")),
        "What it is moved from: the grey of CSS, or the root of the weighted squares, by which bright colours stay bright."
    )

    var cost: PixelCost { PixelCost(memory: 4) }

    let arguments: TransformArguments

    var matrix: ColorMatrix {
        .blend(toward: Self.cssGrey, by: 1 - (arguments.number(Self.amount) ?? 1))
    }

    /// The weights in the definition of saturate(), with three digits (Filter Effects Module Level 1 §9.6).
    private static let cssGrey: [Double] = (0..<3).flatMap { _ in [0.213, 0.715, 0.072] }

    /// The weights of the squares (HSP).
    private static let perceived: [Double] = (0..<3).flatMap { _ in [0.299, 0.587, 0.114] }

    func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage {
        if image.isGrey { return image }
        guard arguments[Self.grey] == .word("perceived") else { return try image.recombined(by: matrix) }
        let amount = arguments.number(Self.amount) ?? 1
        return try image.onColors { colors throws(ImagingError) in
            try colors.saturated(by: amount, weights: Self.perceived)
        }
    }
}
