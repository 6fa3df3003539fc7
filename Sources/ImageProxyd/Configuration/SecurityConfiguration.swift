// SPDX-License-Identifier: Apache-2.0

import Freshness
import Imaging
import Primitives
import Request
import URLs

/// What clients may request, and where the daemon may connect to. Configuration: `security`.
struct SecurityConfiguration: SettingGroup {
    var keys: [String] = []
    var requireSignature: Bool?
    var allowedOptions: [String] = []
    var unsignedTags = false
    var allowUploads = false
    var onlyPresets = false
    var sources: [String] = []
    var openProxy = false
    var addresses = AddressConfiguration()
    var trustFetchProxy = false
    var rateLimit = RateLimitConfiguration()

    /// The option's name for the right to a high priority.
    static let priority = "priority"

    static let settings = SettingTable<Self>(
        "What clients may request, and where the daemon may connect to.", reload: .takes
    ) {
        Setting(
            "keys", \.keys, allowed: "at most \(SignaturePolicy.maxKeys) keys", isSecret: true,
            """
            Signing keys, of which any will do: files' paths, or `credential:NAME`. A file holds raw bytes, or text behind
            `hex:` or `base64:`; at least 16 bytes.
            """
        ) { $0.count <= SignaturePolicy.maxKeys }
        Setting(
            "requireSignature", \.requireSignature,
            "Whether a URL must be signed; `null` means when there is a key.")
        Setting(
            "allowedOptions", \.allowedOptions, each: "one of " + optionNames.joined(separator: ", "),
            """
            Options that skip a cache or remembered failures and need no signature; `priority` for the parameter `priority=high`
            and the field `Priority: u=0…2`.
            """
        ) { $0.filter { !optionNames.contains($0) } }
        Setting(
            "unsignedTags", \.unsignedTags,
            """
            Whether `tag` needs no signature. If it does, a request without one is refused with 403 `option_forbidden`,
            unless its preset has the tags; so is every request with `tag` where there are no `keys`. A client that can
            name tags can fill the table of tags, and what no longer fits is purged.
            """)
        Setting(
            "allowUploads", \.allowUploads,
            """
            Whether a picture may be sent as the body of a POST without a signature; with one it may be sent in any case,
            and by the operators' listener. `http.maxBodyBytes` bounds it.
            """)
        Setting("onlyPresets", \.onlyPresets, "Whether images are shaped by presets alone.")
        Setting(
            "sources", \.sources,
            """
            URL patterns that a source must match: `https://host` or `https://host/*` for all of a host, `https://host/` for
            that path alone (see docs/origins.md). Empty means any source, which is allowed on loopback and unix sockets
            only, unless `openProxy` is true.
            """)
        Setting(
            "openProxy", \.openProxy,
            """
            Whether a daemon that listens beyond loopback may serve any source on the internet to any client.
            """)
        Setting(
            "allowedNetworks", \.addresses.allowedNetworks, each: network,
            """
            Networks (CIDR) that may be connected to although they are private, loopback, link-local or otherwise special.
            """
        ) { $0.filter { Network($0) == nil } }
        Setting(
            "deniedNetworks", \.addresses.deniedNetworks, each: network,
            "Networks (CIDR) that may never be connected to; wins over `allowedNetworks`."
        ) { $0.filter { Network($0) == nil } }
        Setting(
            "ports", \.addresses.ports, each: "1 to 65535",
            "Ports that may be connected to; empty means all but the Fetch standard's bad ports."
        ) { $0.filter { !(1...65_535).contains($0) } }
        Setting(
            "trustFetchProxy", \.trustFetchProxy, reload: .needsRestart,
            """
            Whether `fetch.proxy` may decide which addresses are connected to. The daemon's own check then sees the proxy's
            address only, and so does not protect the networks that the proxy can reach.
            """)
        Setting.group("rateLimit", \.rateLimit)
    }

    private static let network =
        "a network such as 10.0.0.0/8 or fd00::/8: no bit is set behind those that the length counts"
    private static let optionNames = ImageOptions.names.map(\.name) + [priority]

    /// Whether unsigned requests are refused.
    var requiresSignatures: Bool { !keys.isEmpty && requireSignature ?? true }
}
