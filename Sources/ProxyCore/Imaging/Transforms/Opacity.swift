// SPDX-License-Identifier: Apache-2.0

/// `opacity:0.5` — makes the picture more transparent.
struct Opacity: ImageTransforming {
    static let name = "opacity"
    static let summary = "Multiplies alpha."
    static let parameters = [amount]

    private static let amount = TransformParameter(
        "amount", .number(0...1), .required, "0 is transparent, 1 leaves the picture.")

    static let toleratesIntermediate = true
    var mayAddAlpha: Bool { true }

    let arguments: TransformArguments

    func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage {
        let factor = arguments.number(Self.amount) ?? 1
        return factor == 1 ? image : try image.faded(by: factor)
    }
}
