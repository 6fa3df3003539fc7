// SPDX-License-Identifier: Apache-2.0

/// The order and the timing of an animation's frames, as operations change them.
struct Playback: Equatable {
    /// The frames by their present indices, in the order they are to be shown.
    var order: [Int]
    /// Milliseconds that each frame stays, in that order; empty when the source tells none.
    var delays: [Int]
    /// How often the animation plays; 0 means for ever.
    var loop: Int

    /// Starts with the frames as they come.
    init(frames: Int, timing: AnimationTiming) {
        order = Array(0..<frames)
        delays = timing.delays
        loop = timing.loop
    }

    /// What goes into the encoded animation.
    var timing: AnimationTiming { AnimationTiming(delays: delays, loop: loop) }
}
