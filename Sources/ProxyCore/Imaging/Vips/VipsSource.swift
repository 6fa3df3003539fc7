// SPDX-License-Identifier: Apache-2.0

import CVips
import Glibc

/// The bytes of a source picture in memory of their own, ready for a decoder, which may read them more than once.
///
/// A copy on purpose: what a decoder looks at twice must not change in between.
@safe struct VipsSource: ~Copyable {
    /// The object; owned.
    let raw: UnsafeMutablePointer<CVips.VipsSource>
    /// The first bytes, as many as tell the format.
    let prefix: [UInt8]
    /// The number of bytes.
    let count: Int

    /// The bytes; owned by `raw`.
    private let memory: UnsafeRawPointer

    private init(
        raw: UnsafeMutablePointer<CVips.VipsSource>, prefix: [UInt8], memory: UnsafeRawPointer, count: Int
    ) {
        unsafe self.memory = unsafe memory
        unsafe self.raw = unsafe raw
        self.count = count
        self.prefix = prefix
    }

    /// Fills `count` bytes by `read`, which gets the memory and returns whether all of it was filled.
    ///
    /// - Returns: nil when it was not, or when there is no memory.
    static func filled(
        count: Int, by read: (UnsafeMutableRawBufferPointer) -> Bool
    ) -> VipsSource? {
        guard let memory = unsafe malloc(max(1, count)) else { return nil }
        let bytes = unsafe UnsafeMutableRawBufferPointer(start: memory, count: count)
        guard unsafe read(bytes) else {
            unsafe free(memory)
            return nil
        }
        let prefix = unsafe Array(bytes.prefix(ImageFormat.sniffLength))
        guard let source = unsafe shim_source_adopting(memory, count) else { return nil }
        return unsafe VipsSource(raw: source, prefix: prefix, memory: memory, count: count)
    }

    /// Copies bytes; nil when there is no memory.
    static func copy(of bytes: [UInt8]) -> VipsSource? {
        unsafe filled(count: bytes.count) { memory in
            unsafe memory.copyBytes(from: bytes)
            return true
        }
    }

    /// Lends all bytes.
    borrowing func withBytes<Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        try unsafe body(UnsafeRawBufferPointer(start: memory, count: count))
    }

    /// The animation of a PNG; nil for a still and for other formats. O(number of chunks).
    var pngAnimation: PNGAnimation? {
        guard prefix.starts(with: PNGChunks.signature) else { return nil }
        return unsafe PNGAnimation(UnsafeRawBufferPointer(start: memory, count: count))
    }

    /// The EXIF block of a PNG; nil where there is none and for other formats. O(number of chunks).
    var pngExif: [UInt8]? {
        guard prefix.starts(with: PNGChunks.signature) else { return nil }
        return unsafe PNGChunks.exif(of: UnsafeRawBufferPointer(start: memory, count: count))
    }

    deinit {
        unsafe g_object_unref(raw)
    }
}
