// SPDX-License-Identifier: Apache-2.0

/// `loop:1` — sets the number of plays of an animation.
package struct Loop: ImageTransforming {
    package static let name = "loop"
    package static let summary = "Says how often an animation plays; a still stays as it is."
    package static let parameters = [count]

    private static let count = TransformParameter(
        "count", .whole(0...65_535), .required, "How often; 0 is for ever.")

    package var cost: PixelCost { PixelCost(work: 0) }

    package let arguments: TransformArguments
    private let count: Int

    package init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        count = Int(arguments.number(Self.count) ?? 0)
    }

    package func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        image
    }

    package func schedule(_ playback: inout Playback) {
        playback.loop = count
    }
}
