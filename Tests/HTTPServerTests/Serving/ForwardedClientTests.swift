// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Testing

@testable import HTTPServer

@Suite("The client behind trusted proxies")
struct ForwardedClientTests {
    /// The nearest address that is not a proxy of 127.0.0.0/8, for a request of one of these.
    private static func client(_ lines: String..., peer: PeerAddress = .v4(0x7F00_0001)) -> PeerAddress {
        let text = lines.map { "X-Forwarded-For: \($0)\r\n" }.joined()
        let request = HeadReading("GET / HTTP/1.1\r\nHost: a\r\n\(text)\r\n").request
        return ForwardedClient.address(of: request, peer: peer) { address in
            guard case .v4(let bits) = address else { return false }
            return bits >> 24 == 0x7F
        }
    }

    @Test("The client is the last address that is not a proxy, over all lines; empty members are skipped")
    func nearest() {
        let client = PeerAddress.v4(0xC000_0207)
        #expect(Self.client("192.0.2.7") == client)
        #expect(Self.client("9.9.9.9, 192.0.2.7,127.0.0.2") == client)
        #expect(Self.client("9.9.9.9", "192.0.2.7") == client)
        #expect(Self.client(", ,192.0.2.7 ,\t, 127.0.0.2,") == client)
        #expect(Self.client("2001:db8::1") == .v6(0x2001_0DB8_0000_0000, 1))
    }

    @Test(
        "What a client sends does not hide the address that a proxy appends, whatever Unicode makes of the comma"
    )
    func joinedComma() {
        let client = PeerAddress.v4(0xC000_0207)
        #expect(Self.client("9.9.9.9\u{600}, 192.0.2.7") == client)
        #expect(Self.client("9.9.9.9\u{600}", "192.0.2.7") == client)
    }

    @Test("A proxy that names no client, or something that is not an address, is the client")
    func unnamed() {
        let others = [
            "", "unknown", "192. 0.2.7", "192.0.2.7 192.0.2.7", "192.0.2.7:", "192.0.2.7:+8", "192.0.2.7:-0",
            "192.0.2.7:65536",
            "[192.0.2.7]", "[2001:db8::1", "[2001:db8::1]80", "[2001:db8::1]:x",
        ]
        for text in others {
            #expect(Self.client(text) == .v4(0x7F00_0001), "\(text)")
        }
        #expect(Self.client("192.0.2.7", peer: .v4(0x0A00_0001)) == .v4(0x0A00_0001))
    }

    @Test("The address may have brackets and a port, as some proxies write it")
    func withPort() {
        #expect(Self.client("192.0.2.7:80") == .v4(0xC000_0207))
        for text in ["[2001:db8::1]", "[2001:db8::1]:99"] {
            #expect(Self.client(text) == .v6(0x2001_0DB8_0000_0000, 1))
        }
    }

    @Test("An IPv4-mapped address counts as its IPv4 address (RFC 4291 §2.5.5.2)")
    func wrapped() {
        #expect(Self.client("192.0.2.7, ::ffff:127.0.0.2") == .v4(0xC000_0207))
        #expect(Self.client("::ffff:192.0.2.7") == .v4(0xC000_0207))
        #expect(PeerAddress(text: "::fffe:192.0.2.7") == .v6(0, 0xFFFE_C000_0207))

        var (storage, address) = (sockaddr_storage(), sockaddr_in6())
        address.sin6_family = sa_family_t(AF_INET6)
        inet_pton(AF_INET6, "::ffff:192.0.2.7", &address.sin6_addr)
        withUnsafeMutableBytes(of: &storage) { room in
            withUnsafeBytes(of: address) { room.copyBytes(from: $0) }
        }
        #expect(PeerAddress(storage) == .v4(0xC000_0207))
    }
}
