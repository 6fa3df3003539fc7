// SPDX-License-Identifier: Apache-2.0

/// `mask:circle` — cuts to a shape.
package struct Mask: ImageTransforming {
    package static let name = "mask"
    package static let summary =
        "Cuts to a shape in the middle of the picture; what is outside becomes transparent."
    package static let parameters = [shape]

    private static let shape = TransformParameter(
        "shape", .word(["circle", "ellipse", "squircle"]), .required,
        "circle and squircle are as wide as the shorter side, ellipse fills the picture.")

    /// The shape that stays visible.
    private enum Shape: String {
        case circle, ellipse, squircle
    }

    package let arguments: TransformArguments
    private let shape: Shape

    package init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        shape = arguments.choice(Self.shape) ?? .circle
    }

    package func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        let size = image.size
        return try image.masked(
            by: context.once { () throws(ImagingError) in try VipsImage.cover(mask(size), size) })
    }

    private func mask(_ size: PixelSize) -> [UInt8] {
        let half = Double(min(size.width, size.height)) / 2
        let drawing =
            switch shape {
            case .circle: ShapeMask(canvas: size, exponent: 2, halfWidth: half, halfHeight: half)
            case .squircle: ShapeMask(canvas: size, exponent: 4, halfWidth: half, halfHeight: half)
            case .ellipse:
                ShapeMask(
                    canvas: size, exponent: 2, halfWidth: Double(size.width) / 2,
                    halfHeight: Double(size.height) / 2)
            }
        return drawing.mask()
    }
}
