// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A block of addresses in CIDR notation (RFC 4632, RFC 4291 §2.3).
package struct Network: Sendable, Hashable {
    /// The first address of the block.
    package let base: IPAddress
    /// The number of leading bits that all its addresses share: 0–32 for IPv4, 0–128 for IPv6.
    let prefixLength: Int

    /// Creates a block from its first address and length; clears the bits beyond the length.
    init(_ address: IPAddress, prefixLength: Int) {
        self.prefixLength = prefixLength
        base = Self.masked(address, prefixLength)
    }

    /// Parses `address/length`, or a single address as a block of one; nil for anything else.
    ///
    /// Refuses an address with bits beyond the length (`10.1.2.3/8`), which is usually a mistake.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else { return nil }
        let width = address.isIPv4 ? 32 : 128
        guard parts.count == 1 || Self.isNumber(parts[1]) else { return nil }
        guard let length = parts.count == 1 ? width : Int(parts[1]), length <= width else { return nil }
        self.init(address, prefixLength: length)
        guard base == address else { return nil }
    }

    /// Whether the block contains `address`; an IPv6 block never contains an IPv4 address.
    package func contains(_ address: IPAddress) -> Bool {
        address.isIPv4 == base.isIPv4 && Self.masked(address, prefixLength) == base
    }

    private static func isNumber(_ text: Substring) -> Bool {
        (1...3).contains(text.utf8.count) && text.utf8.allSatisfy(\.isASCIIDigit)
    }

    private static func masked(_ address: IPAddress, _ length: Int) -> IPAddress {
        if address.isIPv4 {
            return IPAddress(v4: UInt32(truncatingIfNeeded: address.low & mask(length + 32)))
        }
        return IPAddress(v6: address.high & mask(min(length, 64)), address.low & mask(max(0, length - 64)))
    }

    /// The upper `bits` of 64 set. A shift by 64 gives 0 in Swift, which is correct here.
    private static func mask(_ bits: Int) -> UInt64 {
        ~(UInt64.max >> UInt64(bits))
    }
}

extension Network: CustomStringConvertible {
    /// Base and length as numbers, for logs.
    package var description: String {
        base.isIPv4
            ? (0..<4).map { "\(base.low >> UInt64(24 - $0 * 8) & 255)" }.joined(separator: ".")
                + "/\(prefixLength)"
            : "\(String(base.high, radix: 16)):\(String(base.low, radix: 16))/\(prefixLength)"
    }
}
