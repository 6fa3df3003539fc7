// SPDX-License-Identifier: Apache-2.0

/// The addresses that the daemon may connect to; checked for every socket that libcurl opens and every
/// connection that it reuses.
package struct AddressPolicy: Sendable, Hashable {
    private let allowed: [Network]
    private let denied: [Network]
    private let ports: Set<Int>
    private let isUnrestricted: Bool

    /// All addresses and ports: for services that the operator has named, not a client.
    package static let unrestricted = AddressPolicy()

    private init() { (allowed, denied, ports, isUnrestricted) = ([], [], [], true) }

    /// An invalid setting.
    package enum Invalid: Error, Sendable, Hashable {
        /// A network that is no CIDR block; carries its text.
        case network(String)
        /// A port outside 1–65535.
        case port(Int)
    }

    /// Parses the configured networks and ports.
    package init(configuration: AddressConfiguration) throws(Invalid) {
        allowed = try Self.networks(configuration.allowedNetworks)
        denied = try Self.networks(configuration.deniedNetworks)
        for port in configuration.ports where !(1...65_535).contains(port) { throw .port(port) }
        ports = Set(configuration.ports)
        isUnrestricted = false
    }

    /// Whether a connection to `address` and `port` may be opened.
    ///
    /// A denied network wins over an allowed one, also for the IPv4 address that an IPv6 address carries.
    package func allows(_ address: IPAddress, port: Int) -> Bool {
        guard !isUnrestricted else { return true }
        guard allows(port: port), !isDenied(address) else { return false }
        return isAllowed(address) || !PrivateAddress.isSpecial(address)
    }

    /// Whether a configured network contains `address`.
    ///
    /// A prefix that contains all of IPv4 (such as NAT64's) permits only public addresses behind it; others
    /// only if they are configured, too, in either form.
    private func isAllowed(_ address: IPAddress) -> Bool {
        guard let carried = PrivateAddress.embeddedIPv4(in: address), PrivateAddress.isSpecial(carried),
            !allowed.contains(where: { $0.contains(carried) })
        else { return allowed.contains { $0.contains(address) } }
        return allowed.contains { $0.contains(address) && $0.prefixLength > Self.prefixOfAll }
    }

    /// The longest prefix that can contain all of IPv4 (RFC 6052 §2.2).
    private static let prefixOfAll = 96

    /// Whether any connection to `port` may be opened.
    package func allows(port: Int) -> Bool {
        isUnrestricted || (ports.isEmpty ? !Self.badPorts.contains(port) : ports.contains(port))
    }

    private func isDenied(_ address: IPAddress) -> Bool {
        let carried = PrivateAddress.embeddedIPv4(in: address)
        return denied.contains { network in
            network.contains(address) || (carried.map { network.contains($0) } ?? false)
        }
    }

    private static func networks(_ texts: [String]) throws(Invalid) -> [Network] {
        var networks: [Network] = []
        for text in texts {
            guard let network = Network(text) else { throw .network(text) }
            networks.append(network)
        }
        return networks
    }

    /// Ports of services that could interpret an HTTP request as their own protocol (Fetch standard, "port
    /// blocking").
    static let badPorts: Set<Int> = [
        0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
        104,
        109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514,
        515,
        526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723,
        2049,
        3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
    ]
}
