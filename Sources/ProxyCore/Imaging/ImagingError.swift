// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// Why pixels could not be read, changed or written.
package enum ImagingError: Error, Equatable {
    /// The decoder, or a step after it, refused the bytes; libvips' text, for the log.
    case badImageData(String)
    /// The format can't be read or written; the text names it.
    case unsupportedFormat(String)
    /// An intermediate or final picture exceeds the limits.
    case tooManyPixels(Explanation)
    /// No quality gives as few bytes as requested.
    case tooManyBytes(Explanation)
    /// A configured overlay image can't be read; its name, and why. The source is valid.
    case overlayUnreadable(String)
    /// An operation left no pixel.
    case emptyResult(Explanation)
    /// libvips ran out of memory; the process must not be used any more.
    case outOfMemory(String)
}
