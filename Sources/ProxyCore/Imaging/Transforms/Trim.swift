// SPDX-License-Identifier: Apache-2.0

/// `trim:10` — cuts uniform borders.
package struct Trim: ImageTransforming {
    package static let name = "trim"
    package static let summary = "Cuts borders of one colour; of an animation, what is border on every frame."
    package static let parameters = [threshold, color]

    private static let threshold = TransformParameter(
        "threshold", .number(0...255), .value(.number(10)),
        "How far a channel may be from the colour, in levels, and still be border.")
    private static let color = TransformParameter(
        "color", .color, .absent, "The border's colour; the top left pixel's when absent.")

    package let arguments: TransformArguments
    private let tolerance: Double
    private let color: PixelColor?

    package init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        tolerance = arguments.number(Self.threshold) ?? 0
        color = arguments.color(Self.color)
    }

    package func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        guard let rectangle = context.rectangle else {
            throw .emptyResult("trim finds nothing but border in the picture, which is \(image.size) there")
        }
        return try image.cropped(to: rectangle)
    }

    package let looksAhead = true

    package func survey(
        _ image: borrowing VipsImage, in context: inout TransformContext
    ) throws(ImagingError) {
        // The colours of transparent pixels are ignored.
        let shown = try image.hasAlpha ? image.premultiplied() : image.duplicate()
        let colored = try color?.isGrey ?? true ? shown.duplicate() : shown.inColor()
        let picture = try color?.isOpaque ?? true ? colored.duplicate() : colored.withAlpha()
        let border = try border(of: picture)
        guard let inside = try picture.extent(differingFrom: border, by: tolerance) else { return }
        context.rectangle = context.rectangle?.union(inside) ?? inside
    }

    /// The border's samples, one for each band of a picture that can represent the colour.
    private func border(of picture: borrowing VipsImage) throws(ImagingError) -> [Double] {
        guard let color else {
            let corner = PixelRectangle(left: 0, top: 0, size: PixelSize(1, 1))
            return try picture.cropped(to: corner).samples().map(Double.init)
        }
        let levels = color.components.prefix(3).map { $0 * color.opacity }
        let colors = picture.isGrey ? Array(levels.prefix(1)) : levels
        return picture.hasAlpha ? colors + [Double(color.alpha)] : colors
    }
}
