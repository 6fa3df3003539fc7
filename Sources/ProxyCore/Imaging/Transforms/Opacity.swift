// SPDX-License-Identifier: Apache-2.0

/// `opacity:0.5` — makes the picture more transparent.
package struct Opacity: ImageTransforming {
    package static let name = "opacity"
    package static let summary = "Multiplies alpha."
    package static let parameters = [amount]

    private static let amount = TransformParameter(
        "amount", .number(0...1), .required, "0 is transparent, 1 leaves the picture.")

    package static let toleratesIntermediate = true
    package var mayAddAlpha: Bool { true }

    package let arguments: TransformArguments
    private let factor: Double

    package init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        factor = arguments.number(Self.amount) ?? 1
    }

    package func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        factor == 1 ? image : try image.faded(by: factor)
    }
}
