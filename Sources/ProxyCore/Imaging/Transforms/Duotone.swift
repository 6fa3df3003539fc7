// SPDX-License-Identifier: Apache-2.0

/// `duotone:1b1464:ffd200` — maps dark to one colour and light to another.
struct Duotone: ImageTransforming {
    static let name = "duotone"
    static let summary = "Maps the luminance of encoded sRGB to the way from one colour to another."
    static let parameters = [shadow, highlight, space]

    private static let shadow = TransformParameter("shadow", .color, .required, "What black becomes.")
    private static let highlight = TransformParameter("highlight", .color, .required, "What white becomes.")

    private static let space = TransformParameter(
        "space", .word(["srgb", lab]), .value(.word("srgb")),
        "Where the way is straight: encoded sRGB, or lab for CIELAB, where alpha does not change.")
    private static let lab = "lab"

    var mayAddAlpha: Bool { true }

    let arguments: TransformArguments

    func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage {
        let grey = try image.inColor().recombined(by: ColorMatrix(weights: ColorMatrix.grey))
        let shadow = arguments.color(Self.shadow) ?? .black
        let highlight = arguments.color(Self.highlight) ?? .white
        let isLab = arguments[Self.space] == .word(Self.lab)
        let curves =
            isLab
            ? CIELab.way(from: shadow.lab, to: highlight.lab)
            : zip(shadow.fractions, highlight.fractions).map(Self.way)
        let toned = try grey.lookedUp(in: curves + (grey.hasAlpha ? [.identity] : []))
        guard !isLab, !shadow.isOpaque || !highlight.isOpaque else { return toned }
        let alpha = try grey.band(0).lookedUp(in: [Self.way(shadow.opacity, highlight.opacity)])
        return try toned.masked(by: alpha)
    }

    private static func way(_ from: Double, _ to: Double) -> ToneCurve {
        ToneCurve { from + (to - from) * $0 }
    }
}
