// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// A port of 127.0.0.1 for a program that can't choose one itself: no other gets it while this exists.
///
/// It is bound with SO_REUSEADDR and does not listen, so that a program that sets that, too, as servers do, can bind it and
/// listen (socket(7)); the kernel gives it to no program that requests any port.
public final class HeldPort: Sendable {
    private let descriptor: CInt
    /// Its number.
    public let number: UInt16

    public init() throws {
        let descriptor = socket(AF_INET, LINUX_SOCK_STREAM | LINUX_SOCK_CLOEXEC, 0)
        guard descriptor >= 0 else { throw OriginSocket.Failure(call: "socket", code: errno) }
        var isReused: CInt = 1
        setsockopt(
            descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<CInt>.size))
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
        number = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }
}
