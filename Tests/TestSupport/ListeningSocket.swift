// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// A socket that listens, and is closed with the last reference; it accepts no connections unless it is
/// passed on.
public final class ListeningSocket: Sendable {
    /// The socket; closed on exec.
    public let descriptor: CInt
    /// Its port; 0 for a path.
    public let port: UInt16

    /// Listens on a path.
    public init(at path: String) throws {
        descriptor = socket(AF_UNIX, LINUX_SOCK_STREAM | LINUX_SOCK_CLOEXEC, 0)
        port = 0
        let bound = UnixAddress.with(path) { [descriptor] in bind(descriptor, $0, $1) }
        guard bound == 0, listen(descriptor, 16) == 0 else {
            throw DaemonProcess.Failure(description: "bind \(path): \(errno)")
        }
    }

    /// Listens on a port of 127.0.0.1; with 0 on one that is free.
    public init(port: UInt16) throws {
        descriptor = socket(AF_INET, LINUX_SOCK_STREAM | LINUX_SOCK_CLOEXEC, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        self.port = UInt16(bigEndian: address.sin_port)
        guard isBound, listen(descriptor, 16) == 0 else {
            throw DaemonProcess.Failure(description: "bind \(port): \(errno)")
        }
    }

    deinit { close(descriptor) }

    /// Sockets that can't be passed on: of datagrams, and one that does not listen; to be closed by the
    /// caller.
    public static func others() -> [CInt] {
        [LINUX_SOCK_DGRAM, LINUX_SOCK_STREAM].map { socket(AF_INET, $0 | LINUX_SOCK_CLOEXEC, 0) }
    }
}
