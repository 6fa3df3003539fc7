// SPDX-License-Identifier: Apache-2.0

import CVips

/// The frames of a picture between the operations; a still has one.
@safe struct FrameStrip: ~Copyable {
    /// The frames' objects; owned.
    private var frames: [RawImage?] = unsafe []
    /// Whether the frames' pixels can only be read from top to bottom.
    private var isSequential = false

    deinit {
        unsafe frames.forEach { unsafe g_object_unref($0) }
    }

    var count: Int { unsafe frames.count }

    /// Adds a frame.
    mutating func append(_ frame: borrowing VipsImage) {
        unsafe g_object_ref(frame.raw)
        unsafe frames.append(frame.raw)
        isSequential = isSequential || frame.isSequential
    }

    /// Returns a new reference to a frame.
    borrowing func frame(_ index: Int) throws(ImagingError) -> VipsImage {
        let object = unsafe frames[index]
        unsafe g_object_ref(object)
        return try unsafe VipsImage(adopting: object, isSequential: isSequential)
    }

    /// Computes all pixels of all frames.
    borrowing func inMemory() throws(ImagingError) -> FrameStrip {
        var computed = FrameStrip()
        for index in 0..<count { computed.append(try frame(index).computed()) }
        return computed
    }

    /// Joins the frames one below the other, with their timing; all must have the same size.
    mutating func joined(timing: AnimationTiming) throws(ImagingError) -> VipsImage {
        let count = unsafe frames.count
        let whole = try unsafe VipsImage(
            adopting: shim_join_down(&frames, CInt(count)), isSequential: false)
        let own = try whole.duplicate()
        own.setFrames(count, height: whole.size.height / max(1, count), timing: timing)
        return own
    }
}
