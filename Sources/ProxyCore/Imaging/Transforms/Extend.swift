// SPDX-License-Identifier: Apache-2.0

/// `extend:800x600:center` — places the picture on a canvas.
package struct Extend: ImageTransforming {
    package static let name = "extend"
    package static let summary = "Puts the picture onto a canvas of a size; what does not fit on it is cut."
    package static let parameters = [size, Gravity.placement, color, fill]

    private static let size = TransformParameter(
        "size", .size, .required, isScaled: true,
        "The canvas' size; a side left out keeps the picture's aspect.")
    private static let color = TransformParameter(
        "color", .color, .absent,
        "The canvas' colour; when absent white, or transparent where the picture has transparency.")
    private static let fill = TransformParameter(
        "fill", .word(["color", "blur", "mirror", "edge"]), .value(.word("color")),
        "What fills the canvas: the colour, the picture itself blurred, its mirror images, or its edge pixels."
    )

    /// The fill of the canvas.
    private enum Fill: String {
        case color, blur, mirror, edge
    }

    /// The longer side at which a background is blurred, and the blur; its low resolution is invisible
    /// afterwards.
    private static let blurredSide = 128
    private static let blurredSigma = 5.0

    package let arguments: TransformArguments
    private let wanted: SizeRequest?
    private let gravity: Gravity
    private let background: PixelColor?
    private let filling: Fill

    package init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        wanted = arguments.size(Self.size)
        gravity = Gravity.place(from: arguments)
        background = arguments.color(Self.color)
        filling = arguments.choice(Self.fill) ?? .color
        if filling != .color, arguments.given[Self.color.name] != nil {
            throw arguments.error(.conflict(with: "fill=\(filling.rawValue)"), Self.color)
        }
    }

    /// The canvas for a picture of `size`.
    package func canvas(for size: PixelSize) -> PixelSize { wanted?.resolved(for: size) ?? size }

    package func resultSize(of size: PixelSize) -> PixelSize { canvas(for: size) }

    package func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        let size = image.size
        let canvas = canvas(for: size)
        try context.check(canvas)
        guard canvas != size else { return image }
        let place = gravity.placement(of: size, on: canvas)
        switch filling {
        case .color:
            let color = background ?? (image.hasAlpha ? .transparent : .white)
            return try image.placed(on: canvas, left: place.left, top: place.top, over: color)
        case .mirror:
            return try image.inMemory().surrounded(
                on: canvas, left: place.left, top: place.top, by: .mirrored)
        case .edge:
            return try image.inMemory().surrounded(
                on: canvas, left: place.left, top: place.top, by: .continued)
        case .blur:
            return try onItself(image.inMemory(), canvas, place)
        }
    }

    private func onItself(
        _ image: borrowing VipsImage, _ canvas: PixelSize, _ place: (left: Int, top: Int)
    ) throws(ImagingError) -> VipsImage {
        let below = try blurred(image, canvas)
        guard image.hasAlpha else {
            return try below.inserting(image, left: place.left, top: place.top)
        }
        let above = try image.inColor().placed(
            on: canvas, left: place.left, top: place.top, over: .transparent)
        return try below.inColor().covered(by: above)
    }

    /// The picture scaled to cover the canvas, and blurred.
    private func blurred(
        _ image: borrowing VipsImage, _ canvas: PixelSize
    ) throws(ImagingError) -> VipsImage {
        let longer = Double(max(canvas.width, canvas.height))
        let small = canvas.scaled(by: min(1, Double(Self.blurredSide) / longer))
        let size = image.size
        let factor = max(
            Double(small.width) / Double(size.width), Double(small.height) / Double(size.height))
        let rough = size.scaled(by: factor)
        let cover = PixelSize(max(rough.width, small.width), max(rough.height, small.height))
        let middle = PixelRectangle(
            left: (cover.width - small.width) / 2, top: (cover.height - small.height) / 2, size: small)
        return try image.resized(to: cover).cropped(to: middle).softened(sigma: Self.blurredSigma)
            .resized(to: canvas)
    }
}
