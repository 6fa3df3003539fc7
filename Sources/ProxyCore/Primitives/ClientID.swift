// SPDX-License-Identifier: Apache-2.0

/// The client that a request counts for: an IPv4 address, or the /64 network of an IPv6 address, which
/// belongs to one customer.
package struct ClientID: Sendable, Hashable {
    private let high: UInt64, low: UInt64

    /// An IPv4 address, in host byte order.
    package init(v4 address: UInt32) {
        (high, low) = (0, 0xFFFF_0000_0000 | UInt64(address))
    }

    /// The /64 network of an IPv6 address, or the IPv4 address that is mapped into it (RFC 4291 §2.5.5.2).
    /// - Parameters:
    ///   - high: the first 64 bits, in host byte order.
    ///   - low: the last 64 bits.
    package init(v6 high: UInt64, _ low: UInt64) {
        let isMapped = high == 0 && low >> 32 == 0xFFFF
        (self.high, self.low) = (high, isMapped ? low : 0)
    }
}
