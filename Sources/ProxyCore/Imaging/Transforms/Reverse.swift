// SPDX-License-Identifier: Apache-2.0

/// `reverse` — plays an animation backwards.
package struct Reverse: ImageTransforming {
    package static let name = "reverse"
    package static let summary = "Plays an animation backwards; a still stays as it is."
    package static let parameters: [TransformParameter] = []

    package var cost: PixelCost { PixelCost(work: 0) }

    package let arguments: TransformArguments

    package init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
    }

    package func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        image
    }

    package func schedule(_ playback: inout Playback) {
        playback.order.reverse()
        playback.delays.reverse()
    }
}
