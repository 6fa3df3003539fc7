// SPDX-License-Identifier: Apache-2.0

import CZlib

/// Undoes one content coding made of deflate, by zlib, a piece at a time (RFC 1950, RFC 1951, RFC 1952).
///
/// Stricter than readers that show what they have: checksums and lengths must agree, the end must come, and nothing may
/// follow it. Confined to the loader's thread.
// Safe because the pointers are this object's alone: made in `init`, freed in `deinit`, and lent to zlib during a call.
@safe
final class Inflater {
    private let stream: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutableRawBufferPointer
    private let coding: ContentCoding
    private let maxBytes: Int

    /// Bytes out so far.
    private var count = 0
    private var hasEnded = false
    private var isReady = false
    /// The first byte of a body whose second one says how it is wrapped.
    private var firstByte: UInt8?

    /// Bytes that are handed on at once.
    private static let outputSize = 64 << 10
    /// Bytes until a wrapping is known.
    private static let headerSize = 2

    /// Nothing read yet.
    /// - Parameter maxBytes: most that may come out.
    init(_ coding: ContentCoding, maxBytes: Int) {
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

    /// Whether all there is to come has come.
    var isComplete: Bool { hasEnded }

    /// Takes a further piece, and gives what comes out, bit by bit, to `next`.
    /// - Throws: `incomplete` where it is no such coding, `tooLarge`, or what `next` throws.
    func take(
        _ bytes: UnsafeRawBufferPointer, _ next: (UnsafeRawBufferPointer) throws(LoadError) -> Void
    ) throws(LoadError) {
        guard unsafe !bytes.isEmpty else { return }
        if isReady { return try unsafe inflate(bytes, next) }
        switch coding {
        case .gzip: try start(windowBits: MAX_WBITS + Wrapping.gzip)
        case .deflate:
            guard let header = unsafe header(with: bytes) else {
                firstByte = unsafe bytes[0]
                return
            }
            try start(windowBits: Self.isWrapped(header) ? MAX_WBITS : -MAX_WBITS)
            if var firstByte {
                self.firstByte = nil
                try unsafe withUnsafeBytes(of: &firstByte) { (byte) throws(LoadError) in
                    try unsafe inflate(byte, next)
                }
            }
        }
        try unsafe inflate(bytes, next)
    }

    // MARK: - Steps

    /// What is added to the window's bits to have zlib read a gzip wrapping (zlib.h, inflateInit2).
    private enum Wrapping {
        static let gzip: CInt = 16
    }

    /// The first two bytes of the body, the last of which are in `bytes`; nil while there is but one.
    private func header(with bytes: UnsafeRawBufferPointer) -> (UInt8, UInt8)? {
        if let firstByte { return (firstByte, unsafe bytes[0]) }
        return bytes.count < Self.headerSize ? nil : (unsafe bytes[0], unsafe bytes[1])
    }

    /// Whether a body of `deflate` begins as RFC 1950 §2.2 has it; many send the bare stream of RFC 1951.
    ///
    /// No bare one that a packer writes begins so: it would be a stored block with padding that is not zero.
    private static func isWrapped(_ header: (UInt8, UInt8)) -> Bool {
        header.0 & 0x0F == Z_DEFLATED && header.0 >> 4 <= 7
            && (Int(header.0) << 8 | Int(header.1)) % 31 == 0
    }

    private func start(windowBits: CInt) throws(LoadError) {
        let size = unsafe CInt(MemoryLayout<z_stream>.size)
        guard unsafe inflateInit2_(stream, windowBits, ZLIB_VERSION, size) == Z_OK else {
            throw .storage("no memory to inflate a body")
        }
        isReady = true
    }

    private func inflate(
        _ bytes: UnsafeRawBufferPointer, _ next: (UnsafeRawBufferPointer) throws(LoadError) -> Void
    ) throws(LoadError) {
        unsafe stream.pointee.next_in = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_in = UInt32(bytes.count)
        var isFull = false
        while unsafe stream.pointee.avail_in > 0 || isFull {
            if hasEnded { try startMember() }
            let produced = try step()
            isFull = produced == Self.outputSize && !hasEnded
            if produced > 0 { try unsafe next(UnsafeRawBufferPointer(rebasing: output[..<produced])) }
        }
    }

    /// A gzip file is one member or several (RFC 1952 §2.2); what follows the end otherwise makes no sense.
    private func startMember() throws(LoadError) {
        guard coding == .gzip, unsafe inflateReset(stream) == Z_OK else {
            throw .incomplete("bytes behind the end of a content coding")
        }
        hasEnded = false
    }

    /// Inflates until the input ends, the output is full, or the stream is over; returns how many bytes came out.
    private func step() throws(LoadError) -> Int {
        unsafe stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_out = UInt32(Self.outputSize)
        let code = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
        let produced = Self.outputSize - Int(unsafe stream.pointee.avail_out)
        count += produced
        // First of all: what is too large is so whether or not it is damaged as well.
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
