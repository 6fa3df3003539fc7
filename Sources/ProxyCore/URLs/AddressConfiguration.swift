// SPDX-License-Identifier: Apache-2.0

/// The addresses that the daemon may connect to.
///
/// Configuration: part of `security`.
package struct AddressConfiguration: Sendable, Hashable, Codable {
    /// Networks (CIDR) that the daemon may connect to although they are private, loopback, link-local or
    /// otherwise special.
    ///
    /// A prefix of 96 bits or fewer that contains all of IPv4 (NAT64's `64:ff9b::/96`) permits only public
    /// addresses behind it; private ones have to be named themselves.
    package var allowedNetworks: [String] = []
    /// Networks (CIDR) that the daemon never connects to; wins over `allowedNetworks`.
    package var deniedNetworks: [String] = []
    /// The ports that the daemon may connect to; empty (the default) means all but the Fetch standard's bad
    /// ports.
    package var ports: [Int] = []

    /// The defaults: public addresses only.
    package init() {}
}
