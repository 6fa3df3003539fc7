// SPDX-License-Identifier: Apache-2.0

import Crypto

/// The SHA-256 of a representation's bytes: names a content, whoever holds it.
public struct ContentHash: Sendable, Hashable, Codable {
    /// The 32 bytes of the digest.
    public let bytes: [UInt8]

    /// Wraps a digest; nil unless it has 32 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == SHA256.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Wraps a finished digest.
    init(_ digest: SHA256.Digest) {
        bytes = Array(digest)
    }

    /// Hashes `content`; O(n).
    public init(of content: [UInt8]) {
        self.init(SHA256.hash(data: content))
    }

    /// The first 16 bytes in lower-case hexadecimal: enough to tell any two contents apart, as in an `ETag`.
    public var shortHex: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.prefix(16).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self
        )
    }
}
