// SPDX-License-Identifier: Apache-2.0

/// `background:fff` — draws a colour below the picture.
package struct Background: ImageTransforming {
    package static let name = "background"
    package static let summary = "Puts the picture onto a colour, so that nothing stays transparent."
    package static let parameters = [color]

    private static let color = TransformParameter(
        "color", .color, .required, "The colour; one with alpha leaves the picture as transparent as that.")

    package static let toleratesIntermediate = true

    package let arguments: TransformArguments
    private let color: PixelColor

    package init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        color = arguments.color(Self.color) ?? .white
    }

    package func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        guard image.hasAlpha else { return image }
        let picture = try color.isGrey ? image.duplicate() : image.inColor()
        if color.isOpaque { return try picture.flattened(onto: color) }
        return try picture.uniform(color).covered(by: picture.inColor())
    }
}
