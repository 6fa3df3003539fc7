// SPDX-License-Identifier: Apache-2.0

/// `loop:1` — sets the number of plays of an animation.
struct Loop: ImageTransforming {
    static let name = "loop"
    static let summary = "Says how often an animation plays; a still stays as it is."
    static let parameters = [count]

    private static let count = TransformParameter(
        "count", .whole(0...65_535), .required, "How often; 0 is for ever.")

    var cost: PixelCost { PixelCost(work: 0) }

    let arguments: TransformArguments

    func schedule(_ playback: inout Playback) {
        playback.loop = Int(arguments.number(Self.count) ?? 0)
    }
}
