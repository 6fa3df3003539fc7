// SPDX-License-Identifier: Apache-2.0

import CLinux

/// Whether what comes over a connection that is used again answers this request.
///
/// HTTP/1.1 tells answers apart by their order alone: bytes that an origin sends behind an answer would be taken for the
/// answer to the next request, whatever its URL, and be kept as that. HTTP/2 names the request in each frame.
extension Transfer {
    /// Whether nothing has come over the connection that nobody has asked for.
    ///
    /// Asked before the request goes out. A connection that can't be looked at is not used.
    func isClean(_ ends: ConnectionEnds?) -> Bool {
        guard let ends else { return needsFreshConnection }
        if let socket = openedSockets.first(where: { linux_local_port($0) == CInt(ends.localPort) }) {
            connections.note(socket, as: ends)
            return true
        }
        if needsFreshConnection { return true }
        let tls = handle?.tls ?? .pending
        if tls == .http2 { return true }
        guard let socket = connections.socket(of: ends), tls != .pending, linux_peek(socket) == 0 else {
            return false
        }
        usedSocket = socket
        return true
    }

    /// Whether the first bytes of an answer came before the origin's host could know of the request.
    ///
    /// Whatever a host sends acknowledges what it has got, so as long as some of the request is not acknowledged, what has
    /// come was sent before. Asked when the answer begins.
    var isAnsweredTooSoon: Bool {
        guard let usedSocket else { return false }
        return linux_unacknowledged(usedSocket) > 0
    }
}
