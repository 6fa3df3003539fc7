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
        var hex: [UInt8] = []
        hex.reserveCapacity(32)
        for byte in bytes.prefix(16) {
            hex.append(Self.digit(byte >> 4))
            hex.append(Self.digit(byte & 15))
        }
        return String(decoding: hex, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
    }
}
