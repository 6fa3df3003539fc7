// SPDX-License-Identifier: Apache-2.0

/// Why pixels could not be read, changed or written.
enum ImagingError: Error, Equatable {
    /// The decoder, or a step fed by it, refused the bytes; libvips' text, for the log.
    case badImageData(String)
    /// The format cannot be read or written here; the text names it.
    case unsupportedFormat(String)
    /// An intermediate or final picture is beyond the limits.
    case tooManyPixels
    /// No quality takes as few bytes as are wanted.
    case tooManyBytes
    /// The source has no such frame or page.
    case frameOutOfRange
    /// A configured image that is to be laid over can't be read; its name, and why. The source is sound.
    case overlayUnreadable(String)
    /// An operation left no pixel.
    case emptyResult
    /// libvips ran out of memory; the process should not be used further.
    case outOfMemory(String)
}
