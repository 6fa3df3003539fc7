// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// The other end of a connection.
public enum PeerAddress: Sendable, Hashable {
    /// A unix socket, which has no address.
    case unix
    /// An IPv4 address in host byte order.
    case v4(UInt32)
    /// An IPv6 address as two halves in host byte order; never an IPv4-mapped one.
    case v6(UInt64, UInt64)

    /// Reads what accept(2) filled in.
    init(_ storage: sockaddr_storage) {
        // Safe because both families' structures lie within sockaddr_storage.
        self = unsafe withUnsafeBytes(of: storage) { bytes in
            switch Int32(storage.ss_family) {
            case AF_INET:
                .v4(unsafe UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
            case AF_INET6:
                Self.unmapped(
                    unsafe UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                    unsafe UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)))
            default: .unix
            }
        }
    }

    /// What counts as one client: an IPv4 address, or the /64 network of an IPv6 address; nil for a unix
    /// socket.
    var client: PeerAddress? {
        switch self {
        case .unix: nil
        case .v4: self
        case .v6(let high, _): .v6(high, 0)
        }
    }

    /// The IPv4 address of an IPv4-mapped one (RFC 4291 §2.5.5.2), as sockets for both families have it; else
    /// the address itself.
    static func unmapped(_ high: UInt64, _ low: UInt64) -> PeerAddress {
        high == 0 && low >> 32 == 0xFFFF ? .v4(UInt32(truncatingIfNeeded: low)) : .v6(high, low)
    }
}
