// SPDX-License-Identifier: Apache-2.0

import CCrypto

/// A hash function that takes its input in pieces.
package protocol HashFunction: Sendable {
    /// The number of bytes that it takes in at once: B of RFC 2104.
    static var blockBytes: Int { get }
    /// The number of bytes of a digest: L of RFC 2104.
    static var digestBytes: Int { get }

    /// Begins with no input.
    init()

    /// Appends bytes to the input.
    mutating func update(_ bytes: UnsafeRawBufferPointer)

    /// Writes the digest of the input to the beginning of a buffer of `digestBytes` or more.
    consuming func finish(into digest: UnsafeMutableBufferPointer<UInt8>)
}

extension HashFunction {
    /// Appends bytes to the input.
    package mutating func update(_ bytes: some Sequence<UInt8>) {
        let isDone: Void? = bytes.withContiguousStorageIfAvailable { bytes in
            unsafe update(UnsafeRawBufferPointer(bytes))
        }
        if isDone == nil { unsafe Array(bytes).withUnsafeBytes { unsafe update($0) } }
    }

    /// The digest of the input.
    package consuming func finish() -> [UInt8] {
        let state = self
        return unsafe [UInt8](unsafeUninitializedCapacity: Self.digestBytes) { buffer, count in
            unsafe state.finish(into: buffer)
            count = Self.digestBytes
        }
    }

    /// The digest of some bytes.
    package static func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var function = Self()
        function.update(bytes)
        return function.finish()
    }
}

extension Sequence<UInt8> {
    /// The bytes in lower-case hexadecimal, two digits each.
    package var hexadecimal: String {
        String(decoding: flatMap { [$0.hexadecimalDigits.0, $0.hexadecimalDigits.1] }, as: UTF8.self)
    }
}

/// SHA-256 (FIPS 180-4).
package struct SHA256: HashFunction {
    package static let blockBytes = 64
    package static let digestBytes = 32
    private var state = SHA256_CTX()

    package init() { _ = unsafe SHA256_Init(&state) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        _ = unsafe SHA256_Update(&state, bytes.baseAddress, bytes.count)
    }

    package consuming func finish(into digest: UnsafeMutableBufferPointer<UInt8>) {
        _ = unsafe SHA256_Final(digest.baseAddress, &state)
    }

    /// The digest as four words, each read least significant byte first.
    package consuming func words() -> (UInt64, UInt64, UInt64, UInt64) {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        let state = self
        unsafe withUnsafeMutableBytes(of: &words) { bytes in
            unsafe state.finish(into: bytes.bindMemory(to: UInt8.self))
        }
        return (
            UInt64(littleEndian: words.0), UInt64(littleEndian: words.1), UInt64(littleEndian: words.2),
            UInt64(littleEndian: words.3)
        )
    }
}

/// SHA-512 (FIPS 180-4).
package struct SHA512: HashFunction {
    package static let blockBytes = 128
    package static let digestBytes = 64
    private var state = SHA512_CTX()

    package init() { _ = unsafe SHA512_Init(&state) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        _ = unsafe SHA512_Update(&state, bytes.baseAddress, bytes.count)
    }

    package consuming func finish(into digest: UnsafeMutableBufferPointer<UInt8>) {
        _ = unsafe SHA512_Final(digest.baseAddress, &state)
    }
}

/// SHA-1 (FIPS 180-4), which is broken as a digest of what others choose; its HMAC signs thumbor's URLs.
package struct SHA1: HashFunction {
    package static let blockBytes = 64
    package static let digestBytes = 20
    private var state = SHA_CTX()

    package init() { _ = unsafe SHA1_Init(&state) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        _ = unsafe SHA1_Update(&state, bytes.baseAddress, bytes.count)
    }

    package consuming func finish(into digest: UnsafeMutableBufferPointer<UInt8>) {
        _ = unsafe SHA1_Final(digest.baseAddress, &state)
    }
}

/// MD5 (RFC 1321), which is broken; imgix's URLs and requests of S3 need it.
package struct MD5: HashFunction {
    package static let blockBytes = 64
    package static let digestBytes = 16
    private var state = MD5_CTX()

    package init() { _ = unsafe MD5_Init(&state) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        _ = unsafe MD5_Update(&state, bytes.baseAddress, bytes.count)
    }

    package consuming func finish(into digest: UnsafeMutableBufferPointer<UInt8>) {
        _ = unsafe MD5_Final(digest.baseAddress, &state)
    }
}
