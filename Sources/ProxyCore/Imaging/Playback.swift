// SPDX-License-Identifier: Apache-2.0

/// The order and the timing of an animation's frames, as operations change them.
package struct Playback: Equatable {
    /// The frames by their current indices, in the order they are shown.
    var order: [Int]
    /// The duration of each frame in milliseconds, in that order; empty if the source has none.
    var delays: [Int]
    /// The number of plays; 0 means for ever.
    var loop: Int

    /// Creates the source's own order.
    init(frames: Int, timing: AnimationTiming) {
        order = Array(0..<frames)
        delays = timing.delays
        loop = timing.loop
    }

    /// The timing of the encoded animation.
    var timing: AnimationTiming { AnimationTiming(delays: delays, loop: loop) }
}
