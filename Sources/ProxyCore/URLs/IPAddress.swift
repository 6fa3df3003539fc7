// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// An IPv4 or IPv6 address, as a number.
package struct IPAddress: Sendable, Hashable {
    /// The upper 64 bits of an IPv6 address; 0 for IPv4.
    package let high: UInt64
    /// The lower 64 bits of an IPv6 address; the 32 bits of an IPv4 address.
    package let low: UInt64
    /// Whether it is an IPv4 address.
    package let isIPv4: Bool

    /// An IPv4 address from its 32 bits, the first byte highest.
    package init(v4 bits: UInt32) {
        high = 0
        low = UInt64(bits)
        isIPv4 = true
    }

    /// An IPv6 address from its two halves.
    package init(v6 high: UInt64, _ low: UInt64) {
        self.high = high
        self.low = low
        isIPv4 = false
    }

    /// Parses dotted decimal IPv4 with four parts, or IPv6 without brackets and zone; nil for anything else.
    package init?(_ text: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if unsafe inet_pton(AF_INET, text, &bytes) == 1 {
            self.init(v4: bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
        } else if unsafe inet_pton(AF_INET6, text, &bytes) == 1 {
            self.init(networkOrder: bytes)
        } else {
            return nil
        }
    }

    /// Reads an IPv6 address from 16 bytes in network order.
    private init(networkOrder bytes: [UInt8]) {
        self.init(
            v6: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
            bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// Reads a socket address; nil unless it is IPv4 or IPv6 and complete.
    package init?(socketAddress: UnsafeRawBufferPointer) {
        guard socketAddress.count >= MemoryLayout<sa_family_t>.size else { return nil }
        switch Int32(unsafe socketAddress.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET where socketAddress.count >= MemoryLayout<sockaddr_in>.size:
            let address = unsafe socketAddress.loadUnaligned(as: sockaddr_in.self)
            self.init(v4: UInt32(bigEndian: address.sin_addr.s_addr))
        case AF_INET6 where socketAddress.count >= MemoryLayout<sockaddr_in6>.size:
            let offset = MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) ?? 8
            self.init(
                v6: UInt64(
                    bigEndian: unsafe socketAddress.loadUnaligned(fromByteOffset: offset, as: UInt64.self)),
                UInt64(
                    bigEndian: unsafe socketAddress.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
                ))
        default:
            return nil
        }
    }
}
