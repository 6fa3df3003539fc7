// SPDX-License-Identifier: Apache-2.0

/// `pad:10:20:10:20` — adds borders. As with CSS's `padding`, one value is for all sides, two are for top and bottom and
/// for right and left, three for top, for right and left, and for bottom.
struct Pad: ImageTransforming {
    static let name = "pad"
    static let summary =
        "Adds borders; by position as in CSS: pad:10 is all sides, pad:10:20 is 20 left and right."
    static let parameters = [top, right, bottom, left, color]

    private static let top = side("top", "height")
    private static let right = side("right", "width")
    private static let bottom = side("bottom", "height")
    private static let left = side("left", "width")
    private static let color = TransformParameter(
        "color", .color, .absent,
        "The borders' colour; when absent white, or transparent where the picture has transparency. Transparent parts of the "
            + "picture stay so: background fills them.")

    private static func side(_ name: String, _ reference: String) -> TransformParameter {
        TransformParameter(
            name, .length(0...100_000), .value(.length(.pixels(0))), isScaled: true,
            "The border's width on this side; a percentage is of the picture's \(reference).")
    }

    static let followsDensity = true
    var cost: PixelCost { PixelCost(work: 0.3) }
    static let toleratesIntermediate = true
    var mayAddAlpha: Bool { background?.isOpaque == false }

    let arguments: TransformArguments
    private let background: PixelColor?

    init(arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments.completingSides(top: Self.top, Self.right, Self.bottom, Self.left)
        background = arguments.color(Self.color)
    }

    func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        let size = image.size
        let left = pixels(Self.left, of: size.width)
        let top = pixels(Self.top, of: size.height)
        let canvas = resultSize(of: size)
        guard canvas != size else { return image }
        try context.check(canvas)
        // White, so that a photo stays one: with transparency it would need a format several times its size.
        let color = background ?? (image.hasAlpha ? .transparent : .white)
        return try image.placed(on: canvas, left: left, top: top, over: color)
    }

    func resultSize(of size: PixelSize) -> PixelSize {
        PixelSize(
            pixels(Self.left, of: size.width) + size.width + pixels(Self.right, of: size.width),
            pixels(Self.top, of: size.height) + size.height + pixels(Self.bottom, of: size.height))
    }

    private func pixels(_ parameter: TransformParameter, of side: Int) -> Int {
        arguments.length(parameter)?.roundedPixels(of: side) ?? 0
    }
}
