// SPDX-License-Identifier: Apache-2.0

/// `reverse` — plays an animation backwards.
struct Reverse: ImageTransforming {
    static let name = "reverse"
    static let summary = "Plays an animation backwards; a still stays as it is."
    static let parameters: [TransformParameter] = []

    var cost: PixelCost { PixelCost(work: 0) }

    let arguments: TransformArguments

    func schedule(_ playback: inout Playback) {
        playback.order.reverse()
        playback.delays.reverse()
    }
}
