// SPDX-License-Identifier: Apache-2.0

import Crypto

/// Names an entry in every tier: the first 128 bits of the SHA-256 of a canonical text.
///
/// The same on every machine, so a tier may be shared. The text itself is kept inside a disk entry and compared,
/// so that not even a collision could answer with somebody else's picture.
public struct CacheKey: Sendable, Hashable, Codable {
    /// The high half of the key, big-endian.
    public let high: UInt64
    /// The low half of the key, big-endian.
    public let low: UInt64

    /// Wraps both halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Hashes a canonical text; O(n).
    public init(canonicalText: String) {
        var words: (UInt64, UInt64) = (0, 0)
        for (index, byte) in SHA256.hash(data: Array(canonicalText.utf8)).enumerated() where index < 16 {
            if index < 8 {
                words.0 = words.0 << 8 | UInt64(byte)
            } else {
                words.1 = words.1 << 8 | UInt64(byte)
            }
        }
        self.init(high: words.0, low: words.1)
    }

    /// A well-mixed hash already: both halves are uniformly distributed.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(low)
    }
}

extension CacheKey: CustomStringConvertible {
    /// 32 lower-case hexadecimal digits; the name of the entry's file.
    public var description: String {
        let digits = Array("0123456789abcdef".utf8)
        let nibbles = [high, low].flatMap { word in
            stride(from: 60, through: 0, by: -4).map { digits[Int(word >> UInt64($0) & 15)] }
        }
        return String(decoding: nibbles, as: UTF8.self)
    }

    /// Reads 32 hexadecimal digits; nil otherwise.
    public init?(_ description: String) {
        guard description.utf8.count == 32,
            let high = UInt64(description.prefix(16), radix: 16),
            let low = UInt64(description.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }
}
