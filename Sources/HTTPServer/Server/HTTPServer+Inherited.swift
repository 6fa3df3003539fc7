// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

extension HTTPServer.Address {
    /// The address that a socket listens on; the socket is made non-blocking.
    /// - Throws: `EINVAL` if it is not a stream socket that listens on IPv4, IPv6 or a path.
    public init(ofListening socket: CInt) throws(SocketError) {
        let type = try Self.option(SO_TYPE, of: socket)
        guard type == LINUX_SOCK_STREAM, try Self.option(SO_ACCEPTCONN, of: socket) == 1 else {
            throw SocketError(call: "not a stream socket that listens", code: EINVAL)
        }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            unsafe getsockname(socket, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
        }
        _ = try check("getsockname", result)
        guard let address = Self(storage, length: Int(length)) else {
            throw SocketError(call: "neither IPv4, IPv6 nor a path", code: EINVAL)
        }
        self = address
        let flags = try check("fcntl", fcntl(socket, F_GETFL))
        _ = try check("fcntl", fcntl(socket, F_SETFL, flags | O_NONBLOCK))
    }

    private static func option(_ name: CInt, of socket: CInt) throws(SocketError) -> CInt {
        var value: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        _ = try check("getsockopt", unsafe getsockopt(socket, SOL_SOCKET, name, &value, &length))
        return value
    }

    /// Reads what getsockname(2) filled in; nil for another family, and for a unix socket without a path.
    private init?(_ storage: sockaddr_storage, length: Int) {
        // Safe because both families' structures, and a path, lie within sockaddr_storage.
        let bytes = unsafe withUnsafeBytes(of: storage) { unsafe Array($0) }
        let port = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        switch CInt(storage.ss_family) {
        case AF_INET: self = .tcp(host: Self.host(AF_INET, bytes[4..<8]), port: port)
        case AF_INET6: self = .tcp(host: Self.host(AF_INET6, bytes[8..<24]), port: port)
        case AF_UNIX:
            let path = bytes[2..<min(max(2, length), bytes.count)].prefix { $0 != 0 }
            guard path.first == UInt8(ascii: "/") else { return nil }
            self = .unix(path: String(decoding: path, as: UTF8.self))
        default: return nil
        }
    }

    private static func host(_ family: CInt, _ octets: ArraySlice<UInt8>) -> String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let octets = Array(octets)
        // Can't fail: the family is known and the text has space for the longest address.
        _ = unsafe inet_ntop(family, octets, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
