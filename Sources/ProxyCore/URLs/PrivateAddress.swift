// SPDX-License-Identifier: Apache-2.0

/// The addresses outside the public internet: IANA's special-purpose registries, and internal addresses of
/// clouds.
///
/// Refuses in case of doubt. IPv6 is refused outside 2000::/3, which covers every form that embeds an IPv4
/// address by a prefix (mapped, compatible, translated, NAT64); forms inside 2000::/3 are listed. A network
/// that reaches IPv4 by NAT64 has to name its prefix in `security.allowedNetworks`.
enum PrivateAddress {
    /// Whether `address` is special: private, loopback, link-local, shared, reserved, multicast, or embedding IPv4.
    static func isSpecial(_ address: IPAddress) -> Bool {
        if address.isIPv4 { return specialIPv4.contains { $0.contains(address) } }
        return !globalUnicast.contains(address) || specialIPv6.contains { $0.contains(address) }
            || isISATAP(address)
    }

    /// The IPv4 address that an IPv6 address of a known form embeds.
    ///
    /// Mapped, compatible, translated, NAT64, 6to4, Teredo (stored inverted) and ISATAP; `::` and `::1` embed
    /// none.
    static func embeddedIPv4(in address: IPAddress) -> IPAddress? {
        guard !address.isIPv4, address.high != 0 || address.low > 1 else { return nil }
        let low = UInt32(truncatingIfNeeded: address.low)
        if isISATAP(address) || carryingLowBits.contains(where: { $0.contains(address) }) {
            return IPAddress(v4: low)
        }
        if sixToFour.contains(address) {
            return IPAddress(v4: UInt32(truncatingIfNeeded: address.high >> 16))
        }
        return teredo.contains(address) ? IPAddress(v4: ~low) : nil
    }

    /// An interface identifier 0:5efe or 200:5efe carries an IPv4 address under any prefix (RFC 5214 §6.1).
    private static func isISATAP(_ address: IPAddress) -> Bool {
        !address.isIPv4 && (address.low >> 32) & ~0x0200_0000 == 0x0000_5EFE
    }

    private static let specialIPv4: [Network] = [
        v4(0, 0, 0, 0, 8),  // this network (RFC 791)
        v4(10, 0, 0, 0, 8),  // private (RFC 1918)
        v4(100, 64, 0, 0, 10),  // shared by carriers (RFC 6598); Alibaba's metadata service
        v4(127, 0, 0, 0, 8),  // loopback (RFC 1122)
        v4(168, 63, 129, 16, 32),  // Azure's metadata and agent service, although the block is public
        v4(169, 254, 0, 0, 16),  // link-local (RFC 3927); metadata services
        v4(172, 16, 0, 0, 12),  // private (RFC 1918)
        v4(192, 0, 0, 0, 24),  // protocol assignments (RFC 6890); Oracle's metadata service
        v4(192, 0, 2, 0, 24),  // documentation (RFC 5737)
        v4(192, 31, 196, 0, 24),  // AS112 (RFC 7535)
        v4(192, 52, 193, 0, 24),  // AMT relays (RFC 7450)
        v4(192, 88, 99, 0, 24),  // 6to4 relays (RFC 7526)
        v4(192, 168, 0, 0, 16),  // private (RFC 1918)
        v4(192, 175, 48, 0, 24),  // AS112 (RFC 7534)
        v4(198, 18, 0, 0, 15),  // benchmarking (RFC 2544)
        v4(198, 51, 100, 0, 24),  // documentation (RFC 5737)
        v4(203, 0, 113, 0, 24),  // documentation (RFC 5737)
        v4(224, 0, 0, 0, 4),  // multicast (RFC 5771)
        v4(240, 0, 0, 0, 4),  // reserved and broadcast (RFC 1112, RFC 919)
    ]

    private static let globalUnicast = v6(0x2000_0000_0000_0000, 3)
    private static let teredo = v6(0x2001_0000_0000_0000, 32)
    private static let sixToFour = v6(0x2002_0000_0000_0000, 16)

    private static let specialIPv6: [Network] = [
        v6(0x2001_0000_0000_0000, 23),  // protocol assignments, Teredo among them (RFC 2928, RFC 4380)
        v6(0x2001_0DB8_0000_0000, 32),  // documentation (RFC 3849)
        sixToFour,  // 6to4 (RFC 3056)
        v6(0x2620_004F_8000_0000, 48),  // AS112 (RFC 7534)
        v6(0x3FFF_0000_0000_0000, 20),  // documentation (RFC 9637)
    ]

    private static let carryingLowBits: [Network] = [
        Network(IPAddress(v6: 0, 0), prefixLength: 96),  // compatible (RFC 4291 §2.5.5.1)
        Network(IPAddress(v6: 0, 0xFFFF_0000_0000), prefixLength: 96),  // mapped (RFC 4291 §2.5.5.2)
        Network(IPAddress(v6: 0, 0xFFFF_0000_0000_0000), prefixLength: 96),  // translated (RFC 2765)
        v6(0x0064_FF9B_0000_0000, 96),  // NAT64 (RFC 6052)
        v6(0x0064_FF9B_0001_0000, 48),  // NAT64 for local use (RFC 8215), where its prefix is a /96
    ]

    private static func v4(_ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: UInt32, _ length: Int) -> Network {
        Network(IPAddress(v4: a << 24 | b << 16 | c << 8 | d), prefixLength: length)
    }

    private static func v6(_ high: UInt64, _ length: Int) -> Network {
        Network(IPAddress(v6: high, 0), prefixLength: length)
    }
}
