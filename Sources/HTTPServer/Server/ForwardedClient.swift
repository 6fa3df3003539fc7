// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Finds the client behind trusted proxies.
enum ForwardedClient {
    /// The maximum number of members of `X-Forwarded-For` that are read, from the right.
    private static let maxHops = 16

    /// The nearest address of `X-Forwarded-For` that is not a trusted proxy; the peer itself if that is not
    /// trusted.
    ///
    /// The field is read from the right: members to the left of an untrusted address can be forged. A member
    /// that is not an address ends the search. Members are split at bytes: what a client sends before a proxy's comma
    /// can't make a longer `Character` of it.
    static func address(
        of request: HTTPRequest, peer: PeerAddress, isTrusted: (PeerAddress) -> Bool
    ) -> PeerAddress {
        guard isTrusted(peer) else { return peer }
        let members = request.values(of: .xForwardedFor).flatMap {
            $0.utf8.split(separator: UInt8(ascii: ","))
        }
        var client = peer
        for member in members.reversed().prefix(maxHops) {
            let words = Substring(member).split { $0 == " " || $0 == "\t" }
            guard let word = words.first else { continue }
            guard words.count == 1, let address = PeerAddress(forwarded: word) else { return client }
            client = address
            if !isTrusted(address) { return client }
        }
        return client
    }
}

extension PeerAddress {
    /// Parses an address as proxies write it: alone, IPv6 possibly in brackets, and possibly with the port of
    /// the client.
    init?(forwarded text: Substring) {
        var host = text
        var port: Substring?
        if host.first == "[" {
            guard let end = host.firstIndex(of: "]") else { return nil }
            let behind = host[host.index(after: end)...]
            guard behind.isEmpty || behind.first == ":" else { return nil }
            (port, host) = (behind.isEmpty ? nil : behind.dropFirst(), host[..<end].dropFirst())
            guard host.contains(":") else { return nil }
        } else if let colon = host.firstIndex(of: ":"), !host[host.index(after: colon)...].contains(":") {
            (port, host) = (host[host.index(after: colon)...], host[..<colon])
        }
        if let port, port.isEmpty || UInt16(port) == nil || "+-".contains(port[port.startIndex]) {
            return nil
        }
        self.init(text: String(host))
    }

    /// Parses an address; nil for anything else.
    init?(text: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if unsafe inet_pton(AF_INET, text, &bytes) == 1 {
            self = .v4(bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
        } else if unsafe inet_pton(AF_INET6, text, &bytes) == 1 {
            self = .unmapped(
                bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
                bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
        } else {
            return nil
        }
    }
}
