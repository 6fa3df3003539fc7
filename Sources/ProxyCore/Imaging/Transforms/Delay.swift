// SPDX-License-Identifier: Apache-2.0

/// `delay:100` — sets how long frames are shown.
package struct Delay: ImageTransforming {
    package static let name = "delay"
    package static let summary = "Shows every frame of an animation equally long; a still stays as it is."
    package static let parameters = [milliseconds]

    private static let milliseconds = TransformParameter(
        "milliseconds", .whole(1...655_350), .required, "How long each frame is shown.")

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
        let delay = Int(arguments.number(Self.milliseconds) ?? 100)
        playback.delays = playback.delays.map { _ in delay }
    }
}
