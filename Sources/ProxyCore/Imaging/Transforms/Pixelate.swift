// SPDX-License-Identifier: Apache-2.0

/// `pixelate:12` — makes a mosaic.
struct Pixelate: ImageTransforming {
    static let name = "pixelate"
    static let summary = "Makes a mosaic: each square takes the mean of its pixels."
    static let parameters = [size]

    private static let size = TransformParameter(
        "size", .length(1...100_000), .required, isScaled: true,
        "The squares' side; a percentage is of the picture's shorter side.")

    var cost: PixelCost { PixelCost(work: 0.5, memory: 4) }
    static let toleratesIntermediate = true

    let arguments: TransformArguments

    func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage {
        let shorter = min(image.size.width, image.size.height)
        let pixels = max(1, arguments.length(Self.size)?.roundedPixels(of: shorter) ?? 1)
        let ready = try image.inMemory()
        guard ready.hasAlpha else { return try ready.mosaic(of: pixels) }
        return try ready.premultiplied().mosaic(of: pixels).unpremultiplied()
    }
}
