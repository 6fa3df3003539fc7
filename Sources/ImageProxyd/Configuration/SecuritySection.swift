// SPDX-License-Identifier: Apache-2.0

import ProxyCore

/// What the daemon may be asked for, and whom it may connect to. Configuration: `security`.
struct SecuritySection: Sendable, Hashable, Codable {
    /// URL patterns that a source must match; empty (the default) means any source, which is allowed on loopback and
    /// unix sockets only, unless `openProxy` is true.
    var sources: [String] = []
    /// Whether a daemon that listens beyond loopback may serve any source on the internet to anybody. Default false.
    var openProxy = false
    /// Networks (CIDR) that may be connected to although they are private, loopback, link-local or otherwise special.
    var allowedNetworks: [String] = []
    /// Networks (CIDR) that may never be connected to; wins over `allowedNetworks`.
    var deniedNetworks: [String] = []
    /// Ports that may be connected to; empty (the default) means all but the Fetch standard's bad ports.
    var ports: [Int] = []

    /// The part that the loader checks addresses with.
    var addresses: AddressConfiguration {
        var addresses = AddressConfiguration()
        addresses.allowedNetworks = allowedNetworks
        addresses.deniedNetworks = deniedNetworks
        addresses.ports = ports
        return addresses
    }
}
