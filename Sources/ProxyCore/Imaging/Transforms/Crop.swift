// SPDX-License-Identifier: Apache-2.0

/// `crop:300x200:northwest` — cuts a rectangle, by gravity or by its corner.
package struct Crop: ImageTransforming {
    package static let name = "crop"
    package static let summary =
        "Cuts a rectangle, placed by gravity or by its corner, and clamped to the image."
    package static let parameters = [size, Gravity.parameter, x, y, Gravity.focalX, Gravity.focalY]

    private static let offsetRange = -100_000...100_000
    private static let size = TransformParameter(
        "size", .size, .required, isScaled: true,
        "The rectangle's size; a side left out keeps the image's aspect.")
    private static let x = TransformParameter(
        "x", .length(offsetRange), .absent, isScaled: true,
        "The rectangle's left edge, in place of gravity; 0 when only y is given.")
    private static let y = TransformParameter(
        "y", .length(offsetRange), .absent, isScaled: true,
        "The rectangle's top edge, in place of gravity; 0 when only x is given.")

    package let arguments: TransformArguments
    private let wanted: SizeRequest?
    private let gravity: Gravity
    private let left: Length?
    private let top: Length?

    package init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        wanted = arguments.size(Self.size)
        gravity = try Gravity.read(from: arguments)
        left = arguments.length(Self.x)
        top = arguments.length(Self.y)
        if left != nil || top != nil, arguments.given[Gravity.parameter.name] != nil {
            throw arguments.error(.conflict(with: "x and y"), Gravity.parameter)
        }
    }

    package func resultSize(of size: PixelSize) -> PixelSize {
        let box = wanted?.resolved(for: size) ?? size
        return PixelSize(min(box.width, size.width), min(box.height, size.height))
    }

    package func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        let size = image.size
        let box = wanted?.resolved(for: size) ?? size
        guard left != nil || top != nil else {
            return try gravity.cut(image, to: resultSize(of: size), in: &context)
        }
        let rectangle = PixelRectangle(
            left: left?.roundedPixels(of: size.width) ?? 0, top: top?.roundedPixels(of: size.height) ?? 0,
            size: box)
        guard let inside = rectangle.clamped(to: size) else {
            throw .emptyResult("crop lies outside the picture, which is \(size) there")
        }
        return try image.cropped(to: inside)
    }
}
