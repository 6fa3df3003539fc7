// SPDX-License-Identifier: Apache-2.0

import URLs

/// The addresses that identify a connection among the open ones.
struct ConnectionEnds: Hashable {
    let localPort: Int
    /// The address of the peer: the origin or the proxy.
    let remote: IPAddress
    /// The peer's port.
    let remotePort: Int
}

/// The sockets of connections that have been used, so that a reused one can be checked.
///
/// libcurl shows a socket only when it opens it. Holds at most one connection per descriptor; the entry of a
/// closed one is overwritten when its descriptor or its addresses are used again. Confined to the loader's
/// thread.
final class KnownConnections {
    private struct User {
        weak var handle: CurlHandle?
    }

    private var sockets: [ConnectionEnds: CInt] = [:]
    private var ends: [CInt: ConnectionEnds] = [:]
    /// The handle that sent the last request over each connection.
    private var users: [ConnectionEnds: User] = [:]

    /// Stores a socket's connection.
    func note(_ socket: CInt, as connection: ConnectionEnds) {
        if let earlier = ends[socket], sockets[earlier] == socket {
            sockets[earlier] = nil
            users[earlier] = nil
        }
        if let earlier = sockets[connection] { ends[earlier] = nil }
        sockets[connection] = socket
        ends[socket] = connection
    }

    /// Stores the handle that sends a request over a connection.
    func note(_ handle: CurlHandle?, over connection: ConnectionEnds) {
        users[connection] = User(handle: handle)
    }

    /// Whether the last request over a connection is still under way, and `handle` uses the connection, too.
    ///
    /// Only over TLS: otherwise libcurl gives a connection to one request at a time
    /// (`CurlHandle.setVersion`).
    func isOccupied(_ connection: ConnectionEnds, for handle: CurlHandle?) -> Bool {
        guard let user = users[connection]?.handle else { return false }
        return handle?.sharesConnection(with: user) ?? true
    }

    /// Returns the socket of a stored connection.
    func socket(of connection: ConnectionEnds) -> CInt? { sockets[connection] }
}
