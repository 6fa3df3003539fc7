// SPDX-License-Identifier: Apache-2.0

/// Why a picture could not be rendered.
public enum RenderError: Error, Sendable, Hashable, Codable {
    /// The source's magic bytes are none of an image format's.
    case notAnImage
    /// The source's or the wanted format is known but not allowed or not built in; the text names it.
    case unsupportedFormat(String)
    /// The source has more pixels (or a longer side) than `limits` allow, whichever of its pages is wanted.
    case tooManyPixels
    /// The result, or the page that the plan names, would have more pixels than `limits` allow, or a longer side than its
    /// format can have.
    case resultTooLarge
    /// The plan takes more work than its client may ask for: both in weighted megapixels.
    case tooMuchWork(Int, limit: Int)
    /// No quality takes as few bytes as `max_bytes` wants.
    case tooManyBytes
    /// More frames than `limits.frames`.
    case tooManyFrames
    /// The decoder refused the bytes. For the log only: the text may quote libvips.
    case badImageData(String)
    /// What is wanted could not be made of a sound source, which takes more memory than a worker may have.
    case outOfMemory
    /// The decoder's process died on this picture.
    case decoderCrashed
    /// Two workers were killed over it by somebody else: the system, for want of memory, or an operator.
    case workerKilled
    /// The deadline passed and the worker was killed.
    case timedOut
    /// `frame` names a frame or page that the source lacks.
    case frameOutOfRange
    /// A configured watermark can't be read; its name, and why, for the log. The source is sound.
    case watermarkUnreadable(String)
    /// An operation left no pixel.
    case emptyResult
    /// The queue for workers is full.
    case queueFull
    /// No worker became free within `transform.queueTimeout`.
    case queueTimedOut
    /// The destination took not all of the result, say because the disk is full. For the log only.
    case notWritten(String)
    /// No worker can be started. For the log only.
    case unavailable(String)
    /// The task was cancelled.
    case cancelled
}
