// SPDX-License-Identifier: Apache-2.0

import Request
import URLs

/// What the daemon may be asked for, and whom it may connect to. Configuration: `security`.
struct SecuritySection: Sendable, Hashable, Codable {
    /// Signing keys, of which any will do: files' paths, or `credential:NAME`. A file holds raw bytes, or text behind
    /// `hex:` or `base64:`; at least 16 bytes. Default none.
    var keys: [String] = []
    /// Whether a URL must be signed; by default when there is a key.
    var requireSignature: Bool?
    /// Options that skip a cache or the blacklist and need no signature, such as `refresh-cached`; `priority` for the
    /// parameter `priority=high` and the field `Priority: u=0…2`. Default none.
    var allowedOptions: [String] = []
    /// The option's name for the right to a high priority.
    static let priority = "priority"
    /// Whether `tag` needs no signature. Default false: a request without one is refused with 403
    /// `option_forbidden` then, unless its preset has the tags; so is every request with `tag` where there
    /// are no `keys`. A client that can name tags can fill the table of tags, and what no longer fits is
    /// purged.
    var unsignedTags = false
    /// Whether images are shaped by presets alone. Default false.
    var onlyPresets = false
    /// URL patterns that a source must match; empty (the default) means any source, which is allowed on loopback and
    /// unix sockets only, unless `openProxy` is true.
    var sources: [String] = []
    /// Whether a daemon that listens beyond loopback may serve any source on the internet to any client.
    /// Default false.
    var openProxy = false
    /// Networks (CIDR) that may be connected to although they are private, loopback, link-local or otherwise special.
    var allowedNetworks: [String] = []
    /// Networks (CIDR) that may never be connected to; wins over `allowedNetworks`.
    var deniedNetworks: [String] = []
    /// Ports that may be connected to; empty (the default) means all but the Fetch standard's bad ports.
    var ports: [Int] = []

    /// Whether `fetch.proxy` may decide which addresses are connected to. Default false: the daemon's own
    /// check then sees the proxy's address only, and so does not protect the networks that the proxy can
    /// reach.
    var trustFetchProxy = false

    /// How often one client may ask. Default without limit.
    var rateLimit = RateLimitConfiguration()

    /// Whether unsigned requests are refused.
    var requiresSignatures: Bool { !keys.isEmpty && requireSignature ?? true }

    /// The part that the loader checks addresses with.
    var addresses: AddressConfiguration {
        var addresses = AddressConfiguration()
        addresses.allowedNetworks = allowedNetworks
        addresses.deniedNetworks = deniedNetworks
        addresses.ports = ports
        return addresses
    }
}
