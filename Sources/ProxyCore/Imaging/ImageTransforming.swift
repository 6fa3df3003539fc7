// SPDX-License-Identifier: Apache-2.0

/// An operation: a declaration (name, parameters, doc lines, costs) and the function that applies it.
///
/// Parser, canonical form and reference are derived from the declaration. To add an operation, add one file
/// in `Transforms/` and one line in `TransformRegistry`.
package protocol ImageTransforming: Sendable {
    /// The name in the transform text.
    static var name: String { get }
    /// One line for the reference.
    static var summary: String { get }
    /// The parameters in the order of their positions.
    static var parameters: [TransformParameter] { get }

    /// The operation's arguments, from which its canonical spelling is derived.
    var arguments: TransformArguments { get }

    /// Creates an operation from arguments that fit the declaration; checks the rules between them.
    init(arguments: TransformArguments) throws(TransformError)

    /// Adds the operation to the image's pipeline; every input image is sRGB or grey of 8 bits.
    ///
    /// Called once per frame, first frame first, by the default `apply(to:in:)`. The default changes nothing.
    func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage

    /// The same with `context`, which stores decisions that must be equal on all frames.
    func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage

    /// Whether the density of a `resize` before it multiplies its lengths.
    static var followsDensity: Bool { get }

    /// Whether `survey` sees every frame before the first one is changed.
    var looksAhead: Bool { get }

    /// Examines a frame for a decision that must fit all of them; the frame may be read several times.
    func survey(_ image: borrowing VipsImage, in context: inout TransformContext) throws(ImagingError)

    /// Changes the order and the timing of an animation's frames.
    func schedule(_ playback: inout Playback)

    /// The size of the result for a picture of `size`; an upper bound if it depends on the pixels.
    func resultSize(of size: PixelSize) -> PixelSize

    /// What it costs beside decoding and writing; of a `resize` only the memory counts.
    var cost: PixelCost { get }

    /// Whether an opaque picture may get alpha.
    var mayAddAlpha: Bool { get }

    /// Whether it neither enlarges small differences nor depends on them, so that its input may be made from an
    /// intermediate.
    static var toleratesIntermediate: Bool { get }
}

extension ImageTransforming {
    package func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage { image }

    package func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        try apply(to: image)
    }

    package static var followsDensity: Bool { false }

    package var looksAhead: Bool { false }

    package func survey(
        _ image: borrowing VipsImage, in context: inout TransformContext
    ) throws(ImagingError) {}

    package func schedule(_ playback: inout Playback) {}

    package func resultSize(of size: PixelSize) -> PixelSize { size }

    package var cost: PixelCost { PixelCost() }

    package var mayAddAlpha: Bool { false }

    package static var toleratesIntermediate: Bool { false }

    /// Whether the pixels decide which part of the picture is kept.
    package var searchesContent: Bool {
        switch arguments.given[Gravity.parameter.name] {
        case .word("smart"), .word("entropy"): true
        default: false
        }
    }

    /// The operation with its lengths multiplied, if it follows the density.
    func scaled(byDensity density: Double) throws(ImagingError) -> any ImageTransforming {
        guard density != 1, Self.followsDensity else { return self }
        do throws(TransformError) {
            return try Self(arguments: arguments.scaled(by: density, isRounded: true))
        } catch {
            throw .tooManyPixels("\(error)")
        }
    }

    /// The operation's canonical spelling.
    var transformerKey: String { arguments.transformerKey }
}
