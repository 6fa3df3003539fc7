// SPDX-License-Identifier: Apache-2.0

/// `trim:10` — cuts uniform borders.
struct Trim: ImageTransforming {
    static let name = "trim"
    static let summary = "Cuts borders of one colour; of an animation, what is border on every frame."
    static let parameters = [threshold, color, equal, corner, keep]

    private static let threshold = TransformParameter(
        "threshold", .number(0...255), .value(.number(10)),
        "How far a channel may be from the colour, in levels, and still be border.")
    private static let color = TransformParameter(
        "color", .color, .absent, "The border's colour; that of the pixel in a corner when absent.")
    private static let equal = TransformParameter(
        "equal", .word(["none", "h", "v", "hv"]), .value(.word("none")),
        "Where opposite sides lose the same: h left and right, v top and bottom, hv both.")
    private static let corner = TransformParameter(
        "corner", .word(["northwest", "northeast", "southeast", "southwest"]), .value(.word("northwest")),
        "The corner whose pixel has the border's colour.")
    private static let keep = TransformParameter.flag(
        "keep", "Whether a picture that is nothing but border stays as it is; else that is an error.")

    var cost: PixelCost { PixelCost(work: 0.7, memory: 4) }

    let arguments: TransformArguments
    private var tolerance: Double { arguments.number(Self.threshold) ?? 0 }
    private var color: PixelColor? { arguments.color(Self.color) }

    func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        guard let found = context.rectangle else {
            if arguments.isOn(Self.keep) { return image }
            throw .emptyResult("trim finds nothing but border in the picture, which is \(image.size) there")
        }
        let rectangle = evened(found, in: image.size)
        context.trimmed = (rectangle.left, rectangle.top)
        return try image.cropped(to: rectangle)
    }

    /// Grows a rectangle until opposite sides lose the same.
    private func evened(_ found: PixelRectangle, in size: PixelSize) -> PixelRectangle {
        guard case .word(let word) = arguments[Self.equal] else { return found }
        let right = size.width - found.left - found.size.width
        let bottom = size.height - found.top - found.size.height
        let left = word.contains("h") ? min(found.left, right) : found.left
        let top = word.contains("v") ? min(found.top, bottom) : found.top
        return PixelRectangle(
            left: left, top: top,
            size: PixelSize(
                word.contains("h") ? size.width - 2 * left : found.size.width,
                word.contains("v") ? size.height - 2 * top : found.size.height))
    }

    let looksAhead = true

    func survey(
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
            return try picture.cropped(to: pixel(of: picture.size)).samples().map(Double.init)
        }
        let levels = color.components.prefix(3).map { $0 * color.opacity }
        let colors = picture.isGrey ? Array(levels.prefix(1)) : levels
        return picture.hasAlpha ? colors + [Double(color.alpha)] : colors
    }

    /// The pixel in the corner that has the border's colour.
    private func pixel(of size: PixelSize) -> PixelRectangle {
        guard case .word(let word) = arguments[Self.corner] else {
            return PixelRectangle(left: 0, top: 0, size: PixelSize(1, 1))
        }
        return PixelRectangle(
            left: word.hasSuffix("east") ? size.width - 1 : 0,
            top: word.hasPrefix("south") ? size.height - 1 : 0, size: PixelSize(1, 1))
    }
}
