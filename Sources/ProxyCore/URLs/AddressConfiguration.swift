// SPDX-License-Identifier: Apache-2.0

/// The addresses that the daemon may connect to. Configuration: part of `security`.
package struct AddressConfiguration: Sendable, Hashable {
    /// Networks (CIDR) that may be connected to although they are private, loopback, link-local or otherwise
    /// special.
    package var allowedNetworks: [String] = []
    /// Networks (CIDR) that are never connected to; wins over `allowedNetworks`.
    package var deniedNetworks: [String] = []
    /// Ports that may be connected to; empty means all but the Fetch standard's bad ports.
    package var ports: [Int] = []

    /// The defaults: public addresses only.
    package init() {}
}
