// SPDX-License-Identifier: Apache-2.0

/// `modulate:1.2:0.8:90` — changes lightness, chroma and hue.
struct Modulate: ImageTransforming {
    static let name = "modulate"
    static let summary = "Changes lightness, chroma and hue in CIE LCh."
    static let parameters = [brightness, saturation, hue]

    private static let brightness = TransformParameter(
        "brightness", .number(0...10), .value(.number(FixedNumber(1))), "What the lightness is multiplied by."
    )
    private static let saturation = TransformParameter(
        "saturation", .number(0...10), .value(.number(FixedNumber(1))), "What the chroma is multiplied by.")
    private static let hue = TransformParameter(
        "hue", .number(-360...360), .value(.number(FixedNumber(0))), "Degrees that are added to the hue.")

    var cost: PixelCost { PixelCost(work: 8) }

    let arguments: TransformArguments

    func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage {
        try image.inColor().modulated(
            lightness: arguments.number(Self.brightness) ?? 1, chroma: arguments.number(Self.saturation) ?? 1,
            hue: arguments.number(Self.hue) ?? 0)
    }
}
