// SPDX-License-Identifier: Apache-2.0

import CLinux
import Primitives

/// Checks whether the bytes on a reused connection answer this request.
///
/// HTTP/1.1 distinguishes responses only by their order: bytes that an origin sends after a response would
/// count as the response to the next request, whatever its URL, and be stored as that. HTTP/2 names the
/// request in each frame.
extension Transfer {
    /// Why a connection is not used for this hop.
    enum ConnectionFault {
        /// It has bytes that belong to no request, or it can't be checked.
        case tainted
        /// Another hop uses it, and the connection carries one request at a time.
        case occupied
    }

    /// Returns why the request must not be sent over a connection; nil if it may be.
    ///
    /// Called before the request is sent. A connection that can't be checked is not used. Only connections on
    /// which ALPN has negotiated HTTP/2 carry concurrent requests, whatever libcurl assumes of the host.
    func fault(of ends: ConnectionEnds?) -> ConnectionFault? {
        let tls = handle?.tls ?? .pending
        hop.head.isHTTP2 = tls == .http2
        guard let ends else { return needsFreshConnection ? nil : .tainted }
        if let socket = hop.openedSockets.first(where: { linux_local_port($0) == CInt(ends.localPort) }) {
            connections.note(socket, as: ends)
            return begin(over: ends, socket, tls)
        }
        if needsFreshConnection || tls == .http2 { return nil }
        // Another hop has opened it, and has not sent its own request yet.
        guard let socket = connections.socket(of: ends) else { return .occupied }
        guard !connections.isOccupied(ends, for: handle) else { return .occupied }
        guard tls != .pending, linux_peek(socket) == 0 else { return .tainted }
        hop.usedSocket = socket
        return begin(over: ends, socket, tls)
    }

    private func begin(
        over ends: ConnectionEnds, _ socket: CInt, _ tls: CurlHandle.TLSState
    ) -> ConnectionFault? {
        guard tls != .http2 else { return nil }
        connections.note(handle, over: ends)
        hop.countedSocket = socket
        hop.bytesBefore = linux_received(socket)
        return nil
    }

    /// Whether the bytes that the connection has received since the request was sent, including those that
    /// frame the body, are at most the limit for a response: twice the sum of `fetch.maxBytes` and
    /// `fetch.maxHeadBytes`.
    ///
    /// True for HTTP/2, whose connection other requests share, and if the kernel does not report the number.
    var isWithinBytes: Bool {
        guard let socket = hop.countedSocket, hop.bytesBefore >= 0 else { return true }
        let most = 2 * (rules.configuration.maxBytes.bytes + rules.configuration.maxHeadBytes.bytes)
        return Int(linux_received(socket) - hop.bytesBefore) <= most
    }

    /// Whether the first bytes of a response came before the origin's host could have received the request.
    ///
    /// Each packet of a host acknowledges the bytes that it has received; as long as a part of the request is
    /// not acknowledged, the received bytes were sent before it. Called when the response begins.
    var isAnsweredTooSoon: Bool {
        guard let socket = hop.usedSocket else { return false }
        return linux_unacknowledged(socket) > 0
    }
}
