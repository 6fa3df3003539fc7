// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The SHA-256 of a representation's bytes.
///
/// Stored as four words and not as an array: a disk hit reads two hashes, and would allocate twice.
package struct ContentHash: Sendable, Hashable, Codable {
    /// The digest, eight bytes per word, the first byte least significant.
    private let first, second, third, fourth: UInt64

    /// Creates a hash from words, each read least significant byte first.
    package init(words first: UInt64, _ second: UInt64, _ third: UInt64, _ fourth: UInt64) {
        (self.first, self.second, self.third, self.fourth) = (first, second, third, fourth)
    }

    /// Creates a hash from a digest; nil unless it has 32 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == SHA256.digestBytes else { return nil }
        self = unsafe bytes.withUnsafeBytes { unsafe ContentHash(digest: $0) }
    }

    /// Creates a hash from what a function has taken in.
    init(_ function: consuming SHA256) {
        (first, second, third, fourth) = function.words()
    }

    /// Hashes `content`; O(n).
    package init(of content: [UInt8]) {
        var function = SHA256()
        function.update(content)
        self.init(function)
    }

    /// Creates a hash from 32 bytes.
    private init(digest: UnsafeRawBufferPointer) {
        // Safe because every caller has checked that there are 32 bytes.
        first = unsafe UInt64(littleEndian: digest.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
        second = unsafe UInt64(littleEndian: digest.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        third = unsafe UInt64(littleEndian: digest.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
        fourth = unsafe UInt64(littleEndian: digest.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
    }

    /// The 32 bytes of the digest.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(SHA256.digestBytes)
        for word in [first, second, third, fourth] {
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        return bytes
    }

    /// The first 16 bytes in lower-case hexadecimal: enough to distinguish any two contents, as in an `ETag`.
    package var shortHex: String { String(decoding: shortHexOctets, as: UTF8.self) }

    /// The same as octets.
    package var shortHexOctets: [UInt8] {
        var hex = [UInt8](repeating: 0, count: 32)
        for place in 0..<16 {
            let byte = UInt8(truncatingIfNeeded: (place < 8 ? first : second) >> UInt64(place % 8 * 8))
            (hex[place * 2], hex[place * 2 + 1]) = byte.hexadecimalDigits
        }
        return hex
    }
}
