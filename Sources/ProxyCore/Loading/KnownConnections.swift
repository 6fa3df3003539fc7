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
    private struct User {
        weak var handle: CurlHandle?
    }

    private var sockets: [ConnectionEnds: CInt] = [:]
    private var ends: [CInt: ConnectionEnds] = [:]
    /// Who has sent the last request over a connection.
    private var users: [ConnectionEnds: User] = [:]

    /// Notes which connection a socket has become.
    func note(_ socket: CInt, as connection: ConnectionEnds) {
        if let earlier = ends[socket], sockets[earlier] == socket {
            sockets[earlier] = nil
            users[earlier] = nil
        }
        if let earlier = sockets[connection] { ends[earlier] = nil }
        sockets[connection] = socket
        ends[socket] = connection
    }

    /// Notes who sends a request over a connection that was noted.
    func note(_ handle: CurlHandle?, over connection: ConnectionEnds) {
        users[connection] = User(handle: handle)
    }

    /// Whether the last request over a connection is still under way; `handle` is on that connection, too.
    ///
    /// Over TLS alone: without it libcurl gives a connection to one request at a time (`CurlHandle.setVersion`).
    func isOccupied(_ connection: ConnectionEnds, for handle: CurlHandle?) -> Bool {
        guard let user = users[connection]?.handle else { return false }
        return handle?.sharesConnection(with: user) ?? true
    }

    /// The socket of a connection that was noted.
    func socket(of connection: ConnectionEnds) -> CInt? { sockets[connection] }
}
