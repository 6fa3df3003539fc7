// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// A loopback port that refuses connections, and that no other program gets meanwhile: it is bound, and does
/// not listen.
public final class ClosedPort: Sendable {
    private let descriptor: CInt
    /// Its number.
    public let port: UInt16

    public init() throws {
        let descriptor = socket(AF_INET, LINUX_SOCK_STREAM | LINUX_SOCK_CLOEXEC, 0)
        guard descriptor >= 0 else { throw OriginSocket.Failure(call: "socket", code: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else {
            let code = errno
            close(descriptor)
            throw OriginSocket.Failure(call: "bind", code: code)
        }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }

    /// The absolute URL of a path.
    public func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }
}
