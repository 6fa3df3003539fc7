// SPDX-License-Identifier: Apache-2.0

/// `crop:300x200:northwest` — cuts a rectangle, by gravity or by its corner.
package struct Crop: ImageTransforming {
    package static let name = "crop"
    package static let summary =
        "Cuts a rectangle, placed by gravity or by its corner, and clamped to the image."
    package static let parameters = [
        size, Gravity.parameter, x, y, Gravity.focalX, Gravity.focalY, CutPlacement.px, CutPlacement.py,
        ratio,
        strict, lenient, base,
    ]

    private static let offsetRange = -100_000...100_000
    private static let size = TransformParameter(
        "size", .size, .required, isScaled: true,
        "The rectangle's size; a side left out keeps the image's aspect.")
    private static let x = TransformParameter(
        "x", .length(offsetRange), .absent, isScaled: true,
        "The rectangle's left edge, 0 when only y is given; with gravity, how far the rectangle is moved inwards from the edge "
            + "that gravity names, as far as the image reaches.")
    private static let y = TransformParameter(
        "y", .length(offsetRange), .absent, isScaled: true,
        "The rectangle's top edge, 0 when only x is given; with gravity likewise.")
    private static let ratio = TransformParameter.flag(
        "ratio", "Whether size is an aspect: the largest rectangle of it is cut.")
    private static let strict = TransformParameter.flag(
        "strict", "Whether a rectangle that reaches beyond the image is refused instead of clamped.")
    private static let lenient = TransformParameter(
        "lenient", .word(["0", "1", "sides"]), .value(.word("0")),
        "Whether a rectangle outside the image leaves it as it is, or, with sides, begins at 0 on a side on which it would "
            + "begin outside; else that is an error.")
    private static let base = TransformParameter(
        "base", .word(["picture", "source"]), .value(.word("picture")),
        "What x and y refer to: the picture as it is then, or as it was before a trim.")

    package var cost: PixelCost { PixelCost(work: 0) }
    package static let toleratesIntermediate = true

    package let arguments: TransformArguments
    private let wanted: SizeRequest?
    private let placement: CutPlacement
    private let isPlacedByCorner: Bool
    private let left: Length?
    private let top: Length?

    package init(arguments: TransformArguments) throws(TransformError) {
        let hasOffset = arguments.length(Self.x) != nil || arguments.length(Self.y) != nil
        isPlacedByCorner = hasOffset && arguments.given[Gravity.parameter.name] == nil
        // The canonical spelling omits the default, and x and y would then mean a corner.
        let isMovedFromMiddle = hasOffset && arguments.given[Gravity.parameter.name] == .word("center")
        self.arguments =
            isMovedFromMiddle ? arguments.replacing([Gravity.parameter.name: .word("share")]) : arguments
        wanted = arguments.size(Self.size)
        placement = try CutPlacement(arguments)
        left = arguments.length(Self.x)
        top = arguments.length(Self.y)
    }

    /// The wanted size in pixels, which may exceed the picture.
    private func box(for size: PixelSize) -> PixelSize {
        let box = wanted?.resolved(for: size) ?? size
        guard arguments.isOn(Self.ratio), let wanted, let width = wanted.width, let height = wanted.height
        else { return box }
        // Not of whole pixels: 1.91x1 is an aspect, too.
        let aspect = width.pixels(of: size.width) / height.pixels(of: size.height)
        return Double(size.width) > aspect * Double(size.height)
            ? PixelSize(rounding: aspect * Double(size.height), by: Double(size.height))
            : PixelSize(rounding: Double(size.width), by: Double(size.width) / aspect)
    }

    package func resultSize(of size: PixelSize) -> PixelSize { box(for: size).smaller(size) }

    package func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        let size = image.size
        let box = box(for: size)
        if arguments.isOn(Self.strict), box.width > size.width || box.height > size.height {
            throw .emptyResult("crop reaches beyond the picture, which is \(size) there")
        }
        guard isPlacedByCorner else {
            return try placement.cut(image, to: box.smaller(size), of: size, in: &context)
        }
        let before = arguments[Self.base] == .word("source") ? context.trimmed : (left: 0, top: 0)
        var corner = (
            left: (left?.roundedPixels(of: size.width) ?? 0) - before.left,
            top: (top?.roundedPixels(of: size.height) ?? 0) - before.top
        )
        if arguments[Self.lenient] == .word("sides") {
            if !(0..<size.width).contains(corner.left) { corner.left = 0 }
            if !(0..<size.height).contains(corner.top) { corner.top = 0 }
        }
        let rectangle = PixelRectangle(left: corner.left, top: corner.top, size: box)
        guard let inside = rectangle.clamped(to: size) else {
            if arguments.isOn(Self.lenient) { return image }
            throw .emptyResult("crop lies outside the picture, which is \(size) there")
        }
        guard inside == rectangle || !arguments.isOn(Self.strict) else {
            throw .emptyResult("crop reaches beyond the picture, which is \(size) there")
        }
        return try image.cropped(to: inside)
    }
}
