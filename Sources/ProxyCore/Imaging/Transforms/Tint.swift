// SPDX-License-Identifier: Apache-2.0

/// `tint:ff8800:screen` — blends a colour over the picture.
struct Tint: ImageTransforming {
    static let name = "tint"
    static let summary = "Lays a colour over the picture with a blend mode."
    static let parameters = [color, mode]

    private static let color = TransformParameter("color", .color, .required, "The colour, with its alpha.")
    private static let mode = TransformParameter(
        "mode", .word(BlendMode.allCases.map(\.rawValue) + [lab]), .value(.word(BlendMode.multiply.rawValue)),
        "How it meets the picture; source-in and source-atop with an opaque colour keep only the picture's shape, lab its lightness (CIELAB); the others colour transparent parts, too."
    )
    private static let lab = "lab"

    var mayAddAlpha: Bool { true }

    let arguments: TransformArguments
    private var tint: PixelColor { arguments.color(Self.color) ?? .black }
    private var blending: BlendMode { arguments.choice(Self.mode) ?? .multiply }

    func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage {
        let base = try image.inColor()
        if arguments[Self.mode] == .word(Self.lab) {
            return try base.tinted(a: tint.lab.a, b: tint.lab.b)
        }
        if blending == .sourceIn { return try shape(of: base) }
        let mixed = try base.lookedUp(in: curves + (base.hasAlpha ? [.identity] : []))
        // The colour outside the picture: αs (1 − αb) cs, the part that remains when the picture covers it.
        guard base.hasAlpha, !blending.keepsShape else { return mixed }
        return try base.uniform(tint).covered(by: mixed)
    }

    /// The colour alone, with the picture's alpha.
    private func shape(of base: borrowing VipsImage) throws(ImagingError) -> VipsImage {
        guard base.hasAlpha else { return try base.uniform(tint) }
        return try base.uniform(tint).masked(by: base.band(base.bands - 1))
    }

    /// The effect of the colour on an opaque pixel: (1 − αs) cb + αs B(cb, cs) in each band.
    private var curves: [ToneCurve] {
        let (tint, blending) = (self.tint, self.blending)
        return tint.fractions.map { source in
            ToneCurve { backdrop in
                (1 - tint.opacity) * backdrop
                    + tint.opacity * blending.blended(backdrop: backdrop, source: source)
            }
        }
    }
}
