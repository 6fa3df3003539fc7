// SPDX-License-Identifier: Apache-2.0

import CVips
import Glibc

/// An encoded picture in libvips' memory.
@safe package struct EncodedImage: ~Copyable {
    private let start: UnsafeMutableRawPointer
    /// The number of bytes.
    package let count: Int

    /// Takes ownership of memory that a saver has returned.
    init(adopting start: UnsafeMutableRawPointer, count: Int) {
        unsafe self.start = unsafe start
        self.count = count
    }

    /// The output of a saver, which returns 0 for success.
    static func written(
        by save: (inout UnsafeMutableRawPointer?, inout Int) -> CInt
    ) throws(ImagingError) -> EncodedImage {
        var bytes: UnsafeMutableRawPointer?
        var count = 0
        guard unsafe save(&bytes, &count) == 0, let bytes = unsafe bytes else { throw VipsLibrary.failure() }
        return unsafe EncodedImage(adopting: bytes, count: count)
    }

    deinit {
        unsafe g_free(start)
    }

    /// Lends the bytes.
    package borrowing func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Returns a copy with bytes inserted.
    borrowing func inserting(_ insertion: Insertion) -> EncodedImage {
        let offset = min(insertion.offset, count)
        let added = insertion.bytes.count
        // Safe because all three parts lie within the memory: their lengths add up to it.
        let memory = unsafe UnsafeMutableRawBufferPointer(
            start: g_malloc(gsize(count + added)), count: count + added)
        unsafe memory.copyMemory(from: UnsafeRawBufferPointer(start: start, count: offset))
        unsafe UnsafeMutableRawBufferPointer(rebasing: memory[offset...]).copyBytes(from: insertion.bytes)
        unsafe UnsafeMutableRawBufferPointer(rebasing: memory[(offset + added)...]).copyMemory(
            from: UnsafeRawBufferPointer(start: start + offset, count: count - offset))
        guard let base = memory.baseAddress else { fatalError("g_malloc returns memory or aborts") }
        return unsafe EncodedImage(adopting: base, count: count + added)
    }

    /// Keeps parts of the bytes, which are in order and do not overlap.
    consuming func keeping(_ parts: [Range<Int>]) -> EncodedImage {
        var length = 0
        for part in parts where part.upperBound <= count {
            // Safe because the parts lie within the memory, each behind where it is moved to.
            unsafe memmove(start + length, start + part.lowerBound, part.count)
            length += part.count
        }
        return shortened(to: length)
    }

    private consuming func shortened(to length: Int) -> EncodedImage {
        let memory = unsafe start
        discard self
        return unsafe EncodedImage(adopting: memory, count: length)
    }

    /// Replaces as many bytes as the replacement has; they must be within the image.
    consuming func replacing(_ replacement: Insertion) -> EncodedImage {
        let end = replacement.offset + replacement.bytes.count
        guard end <= count else { return self }
        let place = unsafe UnsafeMutableRawBufferPointer(
            start: UnsafeMutableRawPointer(mutating: start + replacement.offset),
            count: replacement.bytes.count)
        unsafe place.copyBytes(from: replacement.bytes)
        return self
    }
}
