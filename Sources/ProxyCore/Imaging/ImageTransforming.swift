// SPDX-License-Identifier: Apache-2.0

/// THE SEAM for operations: a declaration (name, parameters, doc lines) and the function that applies it.
///
/// Parser, canonical form and reference are derived from the declaration. To add an operation: one file in
/// `Transforms/` and one line in `TransformRegistry`.
protocol ImageTransforming: Sendable {
    /// The name in the transform text.
    static var name: String { get }
    /// One line for the reference.
    static var summary: String { get }
    /// The parameters in the order of their positions.
    static var parameters: [TransformParameter] { get }

    /// What the operation was read from; its canonical spelling follows from it.
    var arguments: TransformArguments { get }

    /// Takes arguments that fit the declaration, and checks the rules between them.
    init(_ arguments: TransformArguments) throws(TransformError)

    /// Adds the operation to the image's pipeline; every image that comes is sRGB or grey of 8 bits.
    ///
    /// Called once a frame, first frame first; what must be equal on all frames is remembered in `context`.
    func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage

    /// Whether `survey` is to see every frame before the first one is changed.
    var looksAhead: Bool { get }

    /// Looks at a frame, for what must fit all of them; it may be read as often as needed.
    func survey(_ image: borrowing VipsImage, in context: inout TransformContext) throws(ImagingError)

    /// Changes the order and the timing of an animation's frames.
    func schedule(_ playback: inout Playback)

    /// The size of what it makes of a picture of `size`; at most that, where pixels decide.
    func resultSize(of size: PixelSize) -> PixelSize
}

extension ImageTransforming {
    var looksAhead: Bool { false }

    func survey(
        _ image: borrowing VipsImage, in context: inout TransformContext
    ) throws(ImagingError) {}

    func schedule(_ playback: inout Playback) {}

    func resultSize(of size: PixelSize) -> PixelSize { size }

    /// The operation's canonical spelling.
    var transformerKey: String { arguments.transformerKey }
}

/// Every operation there is; one line each.
enum TransformRegistry {
    static let all: [any ImageTransforming.Type] = [
        Resize.self, Crop.self, Trim.self, Pad.self, Extend.self, Rotate.self, Flip.self, Orient.self,
        Round.self, Mask.self, Tint.self, Blur.self, Sharpen.self, Pixelate.self, Brightness.self,
        Contrast.self, Saturation.self, Gamma.self, Exposure.self, Hue.self, Grayscale.self, Invert.self,
        Sepia.self, Duotone.self, Opacity.self, Background.self, Watermark.self, Text.self, Speed.self,
        Loop.self, Reverse.self,
    ]
    /// The operations by name.
    static let byName: [String: any ImageTransforming.Type] = Dictionary(
        uniqueKeysWithValues: all.map { ($0.name, $0) })
}
