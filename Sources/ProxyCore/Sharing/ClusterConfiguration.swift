// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// The other nodes. Configuration: `cluster`.
package struct ClusterConfiguration: SettingGroup {
    package var peers: [String] = []
    package var key = ""
    package var address = ""
    package var forward = false

    /// Creates the defaults: one node.
    package init() {}

    package static let settings = SettingTable<Self>(
        "The nodes that work together (see docs/scaling.md).", reload: .needsRestart
    ) {
        Setting(
            "peers", \.peers, each: Self.form,
            """
            The nodes: `10.0.0.11:8080`, or `pictures.example:8080`, a name with the addresses of any number of nodes, such
            as a headless service of Kubernetes, which is resolved anew each time. This node may be among them. A purge is
            broadcast to all of them at once.
            """
        ) { $0.filter { ClusterPeer($0) == nil } }
        Setting(
            "key", \.key, isSecret: true,
            """
            The file with the key (32 bytes at least, after `hex:` or `base64:` if it is text) that nodes sign requests to each
            other with, the same on all; or `credential:NAME`.
            """)
        Setting(
            "address", \.address, allowed: "nothing, or " + Self.form,
            "This node's own address as `peers` names it, where it is not one of the machine's, with the port of `listen`."
        ) { $0.isEmpty || ClusterPeer($0) != nil }
        Setting(
            "forward", \.forward,
            """
            Whether a node requests a picture that it does not have from the home of its source among `peers` before it
            makes it itself. Not needed behind a balancer that knows the homes.
            """)
    }

    private static let form = "HOST:PORT, or http:// or https:// before it"
}

/// A node as the settings name it.
package struct ClusterPeer: Sendable, Hashable {
    /// `http` or `https`.
    package let scheme: String
    /// A name or address; an IPv6 address with its brackets.
    package let host: String
    /// 1–65535.
    package let port: Int

    /// Parses `HOST:PORT`, maybe after a scheme; nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        scheme = parts.count == 2 ? String(parts[0]) : "http"
        guard ["http", "https"].contains(scheme), let place = parts.last, !place.contains("/"),
            let colon = place.lastIndex(of: ":"), let port = Int(place[place.index(after: colon)...]),
            (1...65_535).contains(port)
        else { return nil }
        let host = place[..<colon]
        guard !host.isEmpty, !host.contains("@"), host.contains(":") == host.hasPrefix("["),
            host.hasPrefix("[") == host.hasSuffix("]"), host.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        (self.host, self.port) = (String(host), port)
    }

    init(scheme: String, host: String, port: Int) {
        (self.scheme, self.host, self.port) = (scheme, host, port)
    }

    /// `HOST:PORT`.
    package var name: String { "\(host):\(port)" }

    /// What its URLs begin with.
    var url: String { "\(scheme)://\(name)" }
}
