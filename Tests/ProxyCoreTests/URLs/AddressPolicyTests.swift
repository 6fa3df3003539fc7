// SPDX-License-Identifier: Apache-2.0

import ProxyCore
import Testing

@Suite("The address policy")
struct AddressPolicyTests {
    @Test(
        "refuses special IPv4 addresses (IANA special-purpose registry), and the first and last of each block",
        arguments: [
            "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255",
            "100.100.100.200",
            "127.0.0.1", "127.255.255.255", "168.63.129.16", "169.254.0.0", "169.254.169.254", "172.16.0.0",
            "172.31.255.255",
            "192.0.0.0", "192.0.0.192", "192.0.2.1", "192.31.196.1", "192.52.193.1", "192.88.99.1",
            "192.168.0.0",
            "192.168.255.255", "192.175.48.1", "198.18.0.0", "198.19.255.255", "198.51.100.1",
            "203.0.113.255", "224.0.0.1",
            "239.255.255.255", "240.0.0.0", "255.255.255.255",
        ])
    func refusesSpecialIPv4(address: String) throws {
        #expect(try !allows(address))
    }

    @Test(
        "allows public IPv4 addresses, also next to special blocks",
        arguments: [
            "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15", "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.0.1.0",
            "192.167.255.255", "192.169.0.0",
            "198.17.255.255", "198.20.0.0", "223.255.255.255",
        ])
    func allowsPublicIPv4(address: String) throws {
        #expect(try allows(address))
    }

    @Test(
        "refuses special IPv6 addresses and every form that embeds an IPv4 address",
        arguments: [
            "::", "::1", "::127.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:8.8.8.8",
            "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1", "100::1", "2001::1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "2001:10::1", "2001:1ff::1", "2001:db8::1", "2002:7f00:1::1", "2002:808:808::1",
            "2620:4f:8000::1", "3fff::1",
            "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "ffff::",
            "2a00:1450::5efe:7f00:1", "2a00:1450::200:5efe:808:808", "4000::1",
        ])
    func refusesSpecialIPv6(address: String) throws {
        #expect(try !allows(address))
    }

    @Test(
        "allows public IPv6 addresses",
        arguments: [
            "2606:4700::1111", "2001:200::1", "2001:4860:4860::8888", "2a00:1450:4001:81b::200e", "3ffe::1",
        ])
    func allowsPublicIPv6(address: String) throws {
        #expect(try allows(address))
    }

    @Test("allows configured networks, and no others")
    func allowedNetworks() throws {
        let policy = try policy(allowed: ["127.0.0.0/8", "fd00::/8"])

        #expect(policy.allows(try address("127.1.2.3"), port: 80))
        #expect(policy.allows(try address("fd12::1"), port: 80))
        #expect(!policy.allows(try address("10.0.0.1"), port: 80))
        #expect(!policy.allows(try address("::ffff:127.0.0.1"), port: 80), "its own form has to be named")
    }

    @Test("prefers a denied network to an allowed one, also for an embedded IPv4 address")
    func deniedNetworks() throws {
        let policy = try policy(
            allowed: ["0.0.0.0/0", "::ffff:0:0/96", "64:ff9b::/96"], denied: ["169.254.0.0/16", "8.8.8.0/24"])

        #expect(policy.allows(try address("10.0.0.1"), port: 80))
        #expect(policy.allows(try address("::ffff:10.0.0.1"), port: 80))
        #expect(!policy.allows(try address("8.8.8.8"), port: 80))
        #expect(!policy.allows(try address("::ffff:169.254.169.254"), port: 80))
        #expect(!policy.allows(try address("64:ff9b::808:808"), port: 80))
    }

    @Test(
        "allows no private IPv4 address by a prefix that contains all of IPv4 (RFC 6052 §3.1)"
    )
    func translatedNetworks() throws {
        let prefixes = ["64:ff9b::/96", "::ffff:0:0/96", "2002::/16", "::/0"]
        let policy = try policy(allowed: prefixes)
        let exact = try self.policy(allowed: ["64:ff9b::7f00:1/128", "::ffff:10.0.0.0/104"])
        let both = try self.policy(allowed: prefixes + ["10.0.0.0/8"])

        for text in ["64:ff9b::808:808", "::ffff:8.8.8.8", "2002:808:808::1", "::1", "fd00::1"] {
            #expect(policy.allows(try address(text), port: 80), "\(text)")
        }
        for text in ["64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "::ffff:10.0.0.1", "2002:a00:1::1"] {
            #expect(!policy.allows(try address(text), port: 80), "\(text)")
        }
        #expect(exact.allows(try address("64:ff9b::7f00:1"), port: 80))
        #expect(exact.allows(try address("::ffff:10.1.2.3"), port: 80))
        for text in ["64:ff9b::a00:1", "::ffff:10.0.0.1", "2002:a00:1::1"] {
            #expect(both.allows(try address(text), port: 80), "\(text)")
        }
    }

    @Test("refuses the Fetch standard's bad ports unless ports are configured")
    func ports() throws {
        let open = try policy()
        let narrow = try policy(ports: [443, 25])

        for port in [22, 25, 587, 6_667, 10_080] { #expect(!open.allows(port: port)) }
        for port in [80, 443, 8_080, 65_535] { #expect(open.allows(port: port)) }
        #expect(narrow.allows(try address("1.1.1.1"), port: 25))
        #expect(!narrow.allows(try address("1.1.1.1"), port: 80))
    }

    @Test(
        "parses networks strictly",
        arguments: [
            "", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.1.2.3/8", "10.0.0/8", "fd00::/129", "::1/64",
            "[::1]/128", "a/8",
            "10.0.0.0/", "10.0.0.0/8/8",
        ])
    func refusesNetworks(text: String) {
        #expect(throws: AddressPolicy.Invalid.network(text)) { try policy(allowed: [text]) }
    }

    @Test("parses a single address as a network of one, and accepts a network of all addresses")
    func networks() throws {
        let one = try #require(Network("10.1.2.3"))
        let all = try #require(Network("::/0"))

        #expect(one.contains(try address("10.1.2.3")))
        #expect(!one.contains(try address("10.1.2.4")))
        #expect(all.contains(try address("fe80::1")))
        #expect(!all.contains(try address("1.1.1.1")))
    }

    @Test("refuses invalid ports")
    func refusesPorts() {
        #expect(throws: AddressPolicy.Invalid.port(0)) { try policy(ports: [80, 0]) }
        #expect(throws: AddressPolicy.Invalid.port(65_536)) { try policy(ports: [65_536]) }
    }

    private func allows(_ text: String) throws -> Bool {
        try policy().allows(address(text), port: 443)
    }

    private func address(_ text: String) throws -> IPAddress {
        try #require(IPAddress(text))
    }

    private func policy(
        allowed: [String] = [], denied: [String] = [], ports: [Int] = []
    ) throws(AddressPolicy.Invalid) -> AddressPolicy {
        var configuration = AddressConfiguration()
        configuration.allowedNetworks = allowed
        configuration.deniedNetworks = denied
        configuration.ports = ports
        return try AddressPolicy(configuration: configuration)
    }
}
