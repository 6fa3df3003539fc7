// SPDX-License-Identifier: Apache-2.0

/// What tells a connection from others that are open at the same time.
struct ConnectionEnds: Hashable {
    /// Our port.
    let localPort: Int
    /// Who is at the other end: the origin, or the proxy.
    let remote: IPAddress
    /// His port.
    let remotePort: Int
}

/// The sockets of the connections that have been used, so that one that is used again can be looked at.
///
/// libcurl hands a socket out when it is opened only. Holds one connection a descriptor at most, so it is bounded as they
/// are; what is left of one that has gone is overwritten when its descriptor or its ends are used again. Confined to the
/// loader's thread.
final class KnownConnections {
    private var sockets: [ConnectionEnds: CInt] = [:]
    private var ends: [CInt: ConnectionEnds] = [:]

    /// Notes which connection a socket has become.
    func note(_ socket: CInt, as connection: ConnectionEnds) {
        if let earlier = ends[socket], sockets[earlier] == socket { sockets[earlier] = nil }
        if let earlier = sockets[connection] { ends[earlier] = nil }
        sockets[connection] = socket
        ends[socket] = connection
    }

    /// The socket of a connection that was noted.
    func socket(of connection: ConnectionEnds) -> CInt? { sockets[connection] }
}
