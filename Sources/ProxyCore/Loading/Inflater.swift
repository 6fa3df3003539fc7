// SPDX-License-Identifier: Apache-2.0

import CZlib

/// Decodes one content coding based on deflate with zlib, piece by piece (RFC 1950, RFC 1951, RFC 1952).
///
/// Stricter than most readers: checksums and lengths must agree, the end must be present, and nothing may
/// follow it. For one thread at a time.
// Safe because the pointers are this object's alone: made in `init`, freed in `deinit`, and lent to zlib during a call.
@safe
package final class Inflater {
    private let stream: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutableRawBufferPointer
    private let coding: ContentCoding
    private let maxBytes: Int

    /// The number of decoded bytes so far.
    private var count = 0
    private var hasEnded = false
    private var isReady = false
    /// Encoded bytes, decoded up to `offset`.
    private var input: [UInt8] = []
    private var offset = 0
    /// Whether zlib may have more output without further input.
    private var isFull = false

    /// The number of decoded bytes that are delivered at once.
    private static let outputSize = 64 << 10
    /// The number of bytes that identify the wrapping.
    private static let headerSize = 2

    /// Creates a decoder.
    /// - Parameters:
    ///   - coding: how the bytes are coded.
    ///   - maxBytes: the maximum number of decoded bytes.
    package init(_ coding: ContentCoding, maxBytes: Int) {
        self.coding = coding
        self.maxBytes = maxBytes
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        unsafe output = .allocate(byteCount: Self.outputSize, alignment: 1)
    }

    deinit {
        if isReady { unsafe inflateEnd(stream) }
        unsafe stream.deallocate()
        unsafe output.deallocate()
    }

    /// Whether the coding has ended.
    package var isComplete: Bool { hasEnded }

    /// The number of bytes that have been added and not been decoded.
    var waitingBytes: Int { input.count - offset }

    /// Decodes a further piece and passes the output to `next`, part by part.
    /// - Throws: `incomplete` for malformed data, `tooLarge`, or an error of `next`.
    package func take(
        _ bytes: UnsafeRawBufferPointer, _ next: (UnsafeRawBufferPointer) throws(LoadError) -> Void
    ) throws(LoadError) {
        unsafe add(bytes)
        while let piece = unsafe try decodeNext() { try unsafe next(piece) }
    }

    /// Adds encoded bytes, which `decodeNext` decodes.
    func add(_ bytes: UnsafeRawBufferPointer) {
        input.removeFirst(offset)
        offset = 0
        unsafe input.append(contentsOf: bytes)
    }

    /// Decodes the next bytes, at most 64 KiB, which are valid until the next call; nil if more encoded bytes are needed for
    /// that, or the coding has ended.
    /// - Throws: `incomplete` for malformed data, or `tooLarge`.
    func decodeNext() throws(LoadError) -> UnsafeRawBufferPointer? {
        if !isReady {
            guard try start() else { return nil }
        }
        while waitingBytes > 0 || isFull {
            if hasEnded { try startMember() }
            let produced = try step()
            isFull = produced == Self.outputSize && !hasEnded
            if produced > 0 { return unsafe UnsafeRawBufferPointer(rebasing: output[..<produced]) }
        }
        return nil
    }

    // MARK: - Steps

    /// The number that is added to the window's bits so that zlib reads a gzip wrapping (zlib.h,
    /// inflateInit2).
    private enum Wrapping {
        static let gzip: CInt = 16
    }

    /// Whether a body of `deflate` begins as in RFC 1950 §2.2; many servers send the bare stream of RFC 1951.
    ///
    /// No encoder writes a bare stream that begins like that: it would be a stored block with non-zero
    /// padding.
    private static func isWrapped(_ header: (UInt8, UInt8)) -> Bool {
        header.0 & 0x0F == Z_DEFLATED && header.0 >> 4 <= 7
            && (Int(header.0) << 8 | Int(header.1)) % 31 == 0
    }

    /// Starts zlib once the first bytes show the wrapping; false as long as they are missing.
    private func start() throws(LoadError) -> Bool {
        switch coding {
        case .gzip:
            guard waitingBytes > 0 else { return false }
            try start(windowBits: MAX_WBITS + Wrapping.gzip)
        case .deflate:
            guard waitingBytes >= Self.headerSize else { return false }
            let isWrapped = Self.isWrapped((input[offset], input[offset + 1]))
            try start(windowBits: isWrapped ? MAX_WBITS : -MAX_WBITS)
        }
        return true
    }

    private func start(windowBits: CInt) throws(LoadError) {
        let size = unsafe CInt(MemoryLayout<z_stream>.size)
        guard unsafe inflateInit2_(stream, windowBits, ZLIB_VERSION, size) == Z_OK else {
            throw .storage("no memory to inflate a body")
        }
        isReady = true
    }

    /// A gzip file has one member or several (RFC 1952 §2.2); any other bytes after the end are malformed.
    private func startMember() throws(LoadError) {
        guard coding == .gzip, unsafe inflateReset(stream) == Z_OK else {
            throw .incomplete("bytes behind the end of a content coding")
        }
        hasEnded = false
    }

    /// Decodes until the input ends, the output is full, or the stream ends; returns the number of decoded
    /// bytes.
    private func step() throws(LoadError) -> Int {
        let code = unsafe input.withUnsafeMutableBufferPointer { input in
            unsafe stream.pointee.next_in = input.baseAddress.map { unsafe UnsafePointer($0 + offset) }
            unsafe stream.pointee.avail_in = UInt32(input.count - offset)
            unsafe stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            unsafe stream.pointee.avail_out = UInt32(Self.outputSize)
            return unsafe CZlib.inflate(stream, Z_NO_FLUSH)
        }
        offset = input.count - Int(unsafe stream.pointee.avail_in)
        let produced = Self.outputSize - Int(unsafe stream.pointee.avail_out)
        count += produced
        // Checked first: data beyond the bound is too large whether or not it is damaged, too.
        guard count <= maxBytes else { throw .tooLarge }
        switch code {
        case Z_OK, Z_BUF_ERROR: return produced
        case Z_STREAM_END:
            hasEnded = true
            return produced
        case Z_MEM_ERROR: throw .storage("no memory to inflate a body")
        default: throw .incomplete("a body that is not in its content coding")
        }
    }
}
