// SPDX-License-Identifier: Apache-2.0

/// `tint:ff8800:multiply` — lays a colour over the picture with a blend mode.
struct Tint: ImageTransforming {
    static let name = "tint"
    static let summary = "Lays a colour over the picture with a blend mode."
    static let parameters = [color, mode]

    private static let color = TransformParameter("color", .color, .required, "The colour, with its alpha.")
    private static let mode = TransformParameter(
        "mode", .word(BlendMode.tints.map(\.rawValue)), .value(.word(BlendMode.sourceIn.rawValue)),
        "How it meets the picture; source-in keeps only the picture's shape.")

    let arguments: TransformArguments
    private let tint: PixelColor
    private let blending: BlendMode

    init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        tint = arguments.color(Self.color) ?? .black
        blending = arguments.choice(Self.mode) ?? .sourceIn
    }

    func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        let base = try image.inColor()
        return try base.composited(with: base.uniform(tint), mode: blending)
    }
}
