// SPDX-License-Identifier: Apache-2.0

/// The client that a request counts for: an IPv4 address, or the /64 network of an IPv6 address, which
/// belongs to one customer.
package struct ClientID: Sendable, Hashable {
    private let high: UInt64, low: UInt64

    /// An IPv4 address, in host byte order.
    package init(v4 address: UInt32) {
        (high, low) = (0, 0xFFFF_0000_0000 | UInt64(address))
    }

    /// Parses what `text` returned; nil for anything else.
    package init?(text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let high = UInt64(parts[0], radix: 16), let low = UInt64(parts[1], radix: 16)
        else { return nil }
        (self.high, self.low) = (high, low)
    }

    /// The client for another node of a cluster.
    package var text: String { String(high, radix: 16) + "-" + String(low, radix: 16) }

    /// The /64 network of an IPv6 address, or the IPv4 address that is mapped into it (RFC 4291 §2.5.5.2).
    /// - Parameters:
    ///   - high: the first 64 bits, in host byte order.
    ///   - low: the last 64 bits.
    package init(v6 high: UInt64, _ low: UInt64) {
        let isMapped = high == 0 && low >> 32 == 0xFFFF
        (self.high, self.low) = (high, isMapped ? low : 0)
    }
}
