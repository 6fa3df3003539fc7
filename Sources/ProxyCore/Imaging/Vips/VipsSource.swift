// SPDX-License-Identifier: Apache-2.0

import CVips
import Glibc

/// A source, as libvips' functions take it.
typealias RawSource = UnsafeMutablePointer<CVips.VipsSource>

/// The bytes of a source picture in memory, for a decoder, which may read them several times.
///
/// They are a copy, because bytes that a decoder reads twice must not change in between.
@safe package struct VipsSource: ~Copyable {
    /// The object; owned.
    let raw: RawSource
    /// The format by the first bytes; nil for unknown ones.
    package let format: ImageFormat?
    /// The number of received bytes.
    package let count: Int

    /// The bytes; owned by `raw`.
    private let memory: UnsafeRawBufferPointer

    private init(
        raw: RawSource, format: ImageFormat?, memory: UnsafeRawBufferPointer, count: Int
    ) {
        unsafe self.memory = unsafe memory
        unsafe self.raw = unsafe raw
        self.count = count
        self.format = format
    }

    /// The format that is never read, by the same bytes; nil for any other.
    package var unreadableFormat: UnreadableFormat? {
        unsafe UnreadableFormat(sniffing: Array(memory.prefix(ImageFormat.sniffLength)))
    }

    /// Fills `count` bytes with `read`, which gets the memory and returns whether it has filled all of it.
    ///
    /// - Returns: nil if it has not, or without memory.
    package static func filled(
        count: Int, by read: (UnsafeMutableRawBufferPointer) -> Bool
    ) -> VipsSource? {
        guard let memory = unsafe malloc(max(1, count)) else { return nil }
        let bytes = unsafe UnsafeMutableRawBufferPointer(start: memory, count: count)
        guard unsafe read(bytes) else {
            unsafe free(memory)
            return nil
        }
        let format = unsafe ImageFormat(sniffing: Array(bytes.prefix(ImageFormat.sniffLength)))
        let held = unsafe completed(bytes, format)
        guard let source = unsafe shim_source_adopting(held.baseAddress, held.count) else { return nil }
        return unsafe VipsSource(
            raw: source, format: format, memory: UnsafeRawBufferPointer(held), count: count)
    }

    /// Adds bytes that a decoder lacks, and replaces bytes that it misinterprets; the decoder then gets other
    /// memory.
    private static func completed(
        _ bytes: UnsafeMutableRawBufferPointer, _ format: ImageFormat?
    ) -> UnsafeMutableRawBufferPointer {
        guard let whole = unsafe format?.coder.repaired(bytes),
            let memory = unsafe realloc(bytes.baseAddress, whole.count)
        else { return unsafe bytes }
        let larger = unsafe UnsafeMutableRawBufferPointer(start: memory, count: whole.count)
        unsafe larger.copyBytes(from: whole)
        return unsafe larger
    }

    /// Copies bytes; nil without memory.
    package static func copy(of bytes: [UInt8]) -> VipsSource? {
        unsafe filled(count: bytes.count) { memory in
            unsafe memory.copyBytes(from: bytes)
            return true
        }
    }

    /// Copies an encoded picture; nil without memory.
    package static func copy(of encoded: borrowing EncodedImage) -> VipsSource? {
        unsafe filled(count: encoded.count) { memory in
            unsafe encoded.withBytes { unsafe memory.copyMemory(from: $0) }
            return true
        }
    }

    /// Lends all bytes.
    borrowing func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(memory)
    }

    /// A serious warning of the decoder; nil if there was none. Of the first warning of each reading since the last
    /// `clearErrors`, which libvips 8.14 keeps, or else of all: a harmless one may hide others.
    ///
    /// Call it in a process that runs one job at a time, because all threads share one buffer. O(1) without a warning,
    /// otherwise O(bytes).
    package var damage: String? {
        VipsLibrary.damage ?? (VipsLibrary.hasErrors ? damageBehindWarnings : nil)
    }

    /// The first serious warning of all; nil for formats whose decoder gives none.
    var damageBehindWarnings: String? { unsafe format?.coder.damage(of: memory) }

    deinit {
        unsafe g_object_unref(raw)
    }
}
