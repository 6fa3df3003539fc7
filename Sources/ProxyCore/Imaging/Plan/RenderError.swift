// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// Why a picture could not be rendered.
package enum RenderError: Error, Sendable, Hashable, Codable {
    /// The source's magic bytes are not those of an image format.
    case notAnImage
    /// The source's or the requested format is known but not allowed or not built in; the text names it.
    case unsupportedFormat(String)
    /// The source has more pixels (or a longer side) than `limits` allow, on whichever of its pages.
    case tooManyPixels(Explanation)
    /// The result, or the page that the plan names, would have more pixels than `limits` allow, or a longer side than its
    /// format can have.
    case resultTooLarge(Explanation)
    /// The plan takes more work than its client may request: both in weighted megapixels.
    case tooMuchWork(Int, limit: Int)
    /// No quality fits into `max_bytes`.
    case tooManyBytes(Explanation)
    /// More frames than `limits.frames`.
    case tooManyFrames(Explanation)
    /// The decoder refused the bytes. For the log only: the text may quote libvips.
    case badImageData(String)
    /// The result of a sound source takes more memory than a worker may have.
    case outOfMemory
    /// The decoder's process crashed on this picture.
    case decoderCrashed
    /// The second worker that ran it was killed by another process: the system, for lack of memory, or an operator.
    case workerKilled
    /// The deadline passed and the worker was killed.
    case timedOut
    /// The same, twice, although the worker had a processor for less than three quarters of that time.
    case starved
    /// `frame` names a frame or page that the source does not have.
    case frameOutOfRange(Explanation)
    /// A configured watermark can't be read; its name, and why, for the log. The source is sound.
    case watermarkUnreadable(String)
    /// An operation left no pixel.
    case emptyResult(Explanation)
    /// The queue for workers is full.
    case queueFull
    /// No worker became free within `transform.queueTimeout`.
    case queueTimedOut
    /// The destination did not take all of the result, for example because the disk is full. For the log
    /// only.
    case notWritten(String)
    /// A call of the system failed that should not. For the log only.
    case systemFailure(String)
    /// No worker can be started. For the log only.
    case unavailable(String)
    /// The task was cancelled.
    case cancelled

    /// Converts an error of libvips. Sources are measured before there is a picture: only the results of operations are
    /// too large here.
    package init(_ error: ImagingError) {
        switch error {
        case .badImageData(let text): self = .badImageData(text)
        case .unsupportedFormat(let name): self = .unsupportedFormat(name)
        case .tooManyPixels(let why): self = .resultTooLarge(why)
        case .tooManyBytes(let why): self = .tooManyBytes(why)
        case .overlayUnreadable(let text): self = .watermarkUnreadable(text)
        case .emptyResult(let why): self = .emptyResult(why)
        case .outOfMemory: self = .outOfMemory
        }
    }
}
