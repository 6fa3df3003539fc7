// SPDX-License-Identifier: Apache-2.0

import CVips

/// The finished frames of an animation, on their way into one image.
@safe struct FrameStrip: ~Copyable {
    /// The frames' objects; owned.
    private var frames: [UnsafeMutablePointer<CVips.VipsImage>?] = unsafe []

    /// Starts without a frame.
    init() {}

    deinit {
        unsafe frames.forEach { unsafe g_object_unref($0) }
    }

    /// Adds a frame; all must have one size.
    mutating func append(_ frame: borrowing VipsImage) {
        unsafe g_object_ref(frame.raw)
        unsafe frames.append(frame.raw)
    }

    /// Puts the frames below each other, with the timing they had.
    mutating func joined(timing: AnimationTiming) throws(ImagingError) -> VipsImage {
        let count = unsafe frames.count
        let whole = try unsafe VipsImage(
            adopting: shim_join_down(&frames, CInt(count)), isSequential: false)
        let own = try whole.duplicate()
        own.setFrames(count, height: whole.size.height / max(1, count), timing: timing)
        return own
    }
}
