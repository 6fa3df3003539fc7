// SPDX-License-Identifier: Apache-2.0

/// `inset:10:20:10:20` — cuts off the sides, with values as those of `pad`.
struct Inset: ImageTransforming {
    static let name = "inset"
    static let summary =
        "Cuts off so much of each side; as in CSS, one value is for all sides, two are for top and bottom, left and right."
    static let parameters = [top, right, bottom, left]

    private static let top = side("top", "height")
    private static let right = side("right", "width")
    private static let bottom = side("bottom", "height")
    private static let left = side("left", "width")

    private static func side(_ name: String, _ reference: String) -> TransformParameter {
        TransformParameter(
            name, .length(0...100_000), .value(.length(.pixels(FixedNumber(0)))), isScaled: true,
            "What is cut off this side; a percentage is of the picture's \(reference).")
    }

    var cost: PixelCost { PixelCost(work: 0) }

    let arguments: TransformArguments

    init(arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments.completingSides(top: Self.top, Self.right, Self.bottom, Self.left)
    }

    /// What stays; nil if nothing does.
    private func rectangle(in size: PixelSize) -> PixelRectangle? {
        func cut(_ parameter: TransformParameter, _ side: Int) -> Int {
            arguments.length(parameter)?.roundedPixels(of: side) ?? 0
        }
        let (left, top) = (cut(Self.left, size.width), cut(Self.top, size.height))
        let width = size.width - left - cut(Self.right, size.width)
        let height = size.height - top - cut(Self.bottom, size.height)
        guard width > 0, height > 0 else { return nil }
        return PixelRectangle(left: left, top: top, size: PixelSize(width, height))
    }

    func resultSize(of size: PixelSize) -> PixelSize { rectangle(in: size)?.size ?? size }

    func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage {
        guard let rectangle = rectangle(in: image.size) else {
            throw .emptyResult("inset leaves nothing of the picture, which is \(image.size) there")
        }
        return try image.cropped(to: rectangle)
    }
}
