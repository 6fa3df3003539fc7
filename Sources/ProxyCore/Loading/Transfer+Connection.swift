// SPDX-License-Identifier: Apache-2.0

import CLinux

/// Whether what comes over a connection that is used again answers this request.
///
/// HTTP/1.1 tells answers apart by their order alone: bytes that an origin sends behind an answer would be taken for the
/// answer to the next request, whatever its URL, and be kept as that. HTTP/2 names the request in each frame.
extension Transfer {
    /// Why a connection is not used for this hop.
    enum ConnectionFault {
        /// Bytes are on it that belong to no request, or it can't be looked at.
        case tainted
        /// Another hop has it, and the connection carries one request at a time.
        case occupied
    }

    /// What keeps the request from going out over a connection; nil where nothing does.
    ///
    /// Asked before the request goes out. A connection that can't be looked at is not used. That several requests are under
    /// way at once is for connections on which TLS has agreed on HTTP/2, whatever libcurl takes the host for.
    func fault(of ends: ConnectionEnds?) -> ConnectionFault? {
        let tls = handle?.tls ?? .pending
        head.isHTTP2 = tls == .http2
        guard let ends else { return needsFreshConnection ? nil : .tainted }
        if let socket = openedSockets.first(where: { linux_local_port($0) == CInt(ends.localPort) }) {
            connections.note(socket, as: ends)
            return begin(over: ends, socket, tls)
        }
        if needsFreshConnection || tls == .http2 { return nil }
        // Another hop has opened it, and has not sent its own request yet.
        guard let socket = connections.socket(of: ends) else { return .occupied }
        guard !connections.isOccupied(ends, for: handle) else { return .occupied }
        guard tls != .pending, linux_peek(socket) == 0 else { return .tainted }
        usedSocket = socket
        return begin(over: ends, socket, tls)
    }

    private func begin(
        over ends: ConnectionEnds, _ socket: CInt, _ tls: CurlHandle.TLSState
    ) -> ConnectionFault? {
        guard tls != .http2 else { return nil }
        connections.note(handle, over: ends)
        countedSocket = socket
        bytesBefore = linux_received(socket)
        return nil
    }

    /// Whether all that has come over the connection since the request went out, what frames the body included, is no more
    /// than a response may take: twice `fetch.maxBytes` and `fetch.maxHeadBytes`.
    ///
    /// Not for HTTP/2, whose connection others use as well, and not where the kernel does not tell.
    var isWithinBytes: Bool {
        guard let countedSocket, bytesBefore >= 0 else { return true }
        let most = 2 * (rules.configuration.maxBytes.bytes + rules.configuration.maxHeadBytes.bytes)
        return Int(linux_received(countedSocket) - bytesBefore) <= most
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
