// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// A port of 127.0.0.1 that forwards its first connection to one port, the second to another, and so on.
public final class PortRelay: Sendable {
    /// The port on which it listens.
    public let port: Int

    private let gate = OriginGate()

    /// Listens, for as many connections as there are ports.
    public init(to ports: [Int]) throws {
        let listener = try OriginSocket.listen(on: "127.0.0.1")
        port = listener.port
        let gate = gate
        startThread {
            for port in ports {
                guard let client = listener.accept(unlessOpen: gate) else { break }
                startThread { Self.relay(client.rawDescriptor, port, unlessOpen: gate, keeping: client) }
            }
            listener.close()
        }
    }

    deinit {
        gate.open()
    }

    /// Copies in both directions until one side ends.
    private static func relay(
        _ client: CInt, _ port: Int, unlessOpen gate: OriginGate, keeping owner: OriginSocket
    ) {
        let server = socket(AF_INET, LINUX_SOCK_STREAM | LINUX_SOCK_CLOEXEC, 0)
        defer {
            close(server)
            owner.close()
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        var entries = [client, server, gate.descriptor].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while connected == 0, poll(&entries, nfds_t(entries.count), -1) > 0, entries[2].revents == 0 {
            for (source, target) in [(0, 1), (1, 0)] where entries[source].revents != 0 {
                let count = recv(entries[source].fd, &buffer, buffer.count, 0)
                guard count > 0, send(entries[target].fd, buffer, count, CInt(MSG_NOSIGNAL)) == count else {
                    return
                }
            }
        }
    }
}
