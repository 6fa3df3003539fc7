// SPDX-License-Identifier: Apache-2.0

/// `background:fff` — draws a colour below the picture.
struct Background: ImageTransforming {
    static let name = "background"
    static let summary = "Puts the picture onto a colour, so that nothing stays transparent."
    static let parameters = [color]

    private static let color = TransformParameter(
        "color", .color, .required, "The colour; one with alpha leaves the picture as transparent as that.")

    static let toleratesIntermediate = true

    let arguments: TransformArguments

    func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage {
        guard image.hasAlpha else { return image }
        let color = arguments.color(Self.color) ?? .white
        let picture = try color.isGrey ? image.duplicate() : image.inColor()
        if color.isOpaque { return try picture.flattened(onto: color) }
        return try picture.uniform(color).covered(by: picture.inColor())
    }
}
