// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Loading
@testable import Primitives
@testable import URLs

@Suite("A hostile source")
struct HostileSourceTests {
    /// A loader for public addresses, and a local origin that it must not reach.
    private struct Guarded {
        let victim: FakeOrigin
        let loader: CurlLoader

        init(allowed: [String] = [], configure: (inout FetchConfiguration) -> Void = { _ in }) throws {
            var addresses = AddressConfiguration()
            addresses.allowedNetworks = allowed
            var configuration = FetchConfiguration()
            configuration.retries = 0
            configure(&configuration)
            victim = try FakeOrigin()
            victim.route("/", .body([1]))
            loader = try CurlLoader(
                configuration: configuration, addresses: AddressPolicy(configuration: addresses))
        }

        func load(_ url: String) async throws {
            _ = try await loader.load(
                OriginRequest(url: SourceURL(parsing: url)), into: CollectingReceiver())
        }
    }

    @Test(
        "is refused in every spelling of a non-public address, and no request is sent",
        arguments: [
            // Loopback: plain, short, decimal, octal, hexadecimal, mixed, zero, and by name.
            "127.0.0.1", "127.1", "127.0.1", "2130706433", "017700000001", "0177.0.0.1", "0177.0.0.01",
            "0x7f.0.0.1",
            "0x7f000001", "0x7F.1", "127.0x0.0.1", "0", "0.0.0.0", "127.255.255.254", "localhost",
            "LOCALHOST",
            // Private, link-local, metadata, shared, reserved, multicast.
            "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "0xa9fea9fe", "2852039166",
            "0251.0376.0251.0376",
            "100.100.100.200", "100.64.0.1", "192.0.0.192", "168.63.129.16", "198.18.0.1", "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255", "192.0.2.1", "198.51.100.1", "203.0.113.1", "192.88.99.1",
            // IPv6: loopback, unspecified, local, and all forms that embed IPv4.
            "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]", "[fe80::1]",
            "[fec0::1]",
            "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
            "[::ffff:a9fe:a9fe]",
            "[::127.0.0.1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]",
            "[2002:7f00:1::]",
            "[2001:0:4136:e378:8000:63bf:3fff:fdd2]", "[2a00:1450::5efe:7f00:1]",
            "[2a00:1450::200:5efe:10.0.0.1]",
            "[100::1]", "[2001:db8::1]", "[2001:2::1]", "[2001:20::1]", "[3fff::1]", "[5f00::1]",
            "[2620:4f:8000::1]",
        ])
    func addresses(host: String) async throws {
        let guarded = try Guarded()

        let isName = host.lowercased() == "localhost"
        await #expect(throws: isName ? LoadError.nameForbidden : .addressForbidden("")) {
            try await guarded.load("http://\(host):\(guarded.victim.port)/")
        }
        #expect(guarded.victim.log.connections == 0)
    }

    @Test(
        "is no source URL if its host is ambiguous",
        arguments: [
            "127.0.0.1.", "localhost.", "①②⑦.⓪.⓪.①", "127。0。0。1", "１２７.0.0.1", "127.0.0.1%2e",
            "%6c%6f%63alhost",
            "[::1%25lo]", "[::1%lo]", "[fe80::1%25eth0]", "[::1].example", "256.256.256.256", "127.0.0.1.1",
            "a.0x1",
            "00000000000000000177.0.0.1.1", "a@127.0.0.1", "example.com@127.0.0.1", "127.0.0.1\\@example.com",
            "example.com#@127.0.0.1\t", "127.0.0.1\r\nHost: b", "loc\u{AD}alhost", "", ".",
            "[::ffff:127.0.0.1", "::1",
        ])
    func ambiguous(host: String) {
        #expect(throws: SourceURLError.self) { try SourceURL(parsing: "http://\(host)/") }
    }

    @Test(
        "whose name resolves to an internal address is refused alike, with or without a service there")
    func internalName() async throws {
        let guarded = try Guarded()
        TestNames.set("internal.test", to: ["127.0.0.1"])
        TestNames.set("internal6.test", to: ["::1", "fd00::1"])

        for url in [
            "http://internal.test:\(guarded.victim.port)/", "http://internal.test:9999/",
            "https://internal.test:\(guarded.victim.port)/", "http://internal6.test/",
        ] {
            await #expect(throws: LoadError.nameForbidden, "\(url)") { try await guarded.load(url) }
        }
        #expect(guarded.victim.log.connections == 0)
    }

    @Test("with a .onion name is refused, and the name is not resolved (RFC 7686 §2)")
    func onion() async throws {
        let guarded = try Guarded()
        TestNames.set("hidden.onion", to: ["93.184.216.34"])

        await #expect(throws: LoadError.addressForbidden("")) {
            try await guarded.load("http://hidden.onion/")
        }

        #expect(TestNames.lookUps(of: "hidden.onion") == 0)
    }

    @Test("whose name has an allowed and a forbidden address is fetched from the allowed one")
    func mixedAnswer() async throws {
        let guarded = try Guarded(allowed: ["127.0.0.2/32"])
        let good = try FakeOrigin(address: "127.0.0.2")
        good.route("/", .body([1]))
        TestNames.set("mixed.test", to: ["127.0.0.1", "127.0.0.2"])

        try await guarded.load("http://mixed.test:\(good.port)/")
        // No server listens at the allowed address on this port: the forbidden one, where the origin listens,
        // must not be used.
        await #expect(throws: LoadError.self) {
            try await guarded.load("http://mixed.test:\(guarded.victim.port)/")
        }

        #expect(good.count("/") == 1)
        #expect(guarded.victim.log.connections == 0)
    }

    @Test(
        "whose name has many forbidden addresses is fetched from an allowed one, or refused, without delay")
    func manyBadAddresses() async throws {
        // On 127.0.0.1 and ::1 a server may listen or not: neither is tried.
        let guarded = try Guarded(allowed: ["127.0.0.2/32"]) { $0.connectTimeout = .seconds(20) }
        let good = try FakeOrigin(address: "127.0.0.2")
        good.route("/", .body([1]))
        let bad = Array(repeating: ["127.0.0.1", "10.0.0.1", "::1", "fd00::1"], count: 10).flatMap(\.self)
        TestNames.set("behind.test", to: bad + ["127.0.0.2"])
        TestNames.set("allbad.test", to: bad)

        try await guarded.load("http://behind.test:\(good.port)/")
        let error = await #expect(throws: LoadError.self) {
            try await guarded.load("http://allbad.test:\(guarded.victim.port)/")
        }

        #expect(error == .nameForbidden)
        #expect(good.count("/") == 1)
        #expect(guarded.victim.log.connections == 0)
    }

    @Test("whose name resolves to an internal address is retried as often as one that does not resolve")
    func triedAlike() async throws {
        let guarded = try Guarded {
            $0.retries = 2
            $0.retryDelay = .zero
        }
        TestNames.set("inside.test", to: ["10.0.0.1"])

        await #expect(throws: LoadError.nameForbidden) { try await guarded.load("http://inside.test/") }
        let retries = guarded.loader.statistics.retries
        await expectFailure(.unreachable) {
            try await guarded.load("http://nothing.test/")
            return LoadSummary()
        }

        #expect(retries == 2)
        #expect(guarded.loader.statistics.retries == 2 * retries)
    }

    @Test("whose name resolves differently on the next look-up is checked again (DNS rebinding)")
    func rebinding() async throws {
        let guarded = try Guarded(allowed: ["127.0.0.2/32"])
        let good = try FakeOrigin(address: "127.0.0.2")
        let lure = try FakeOrigin(address: "127.0.0.2")
        lure.route("/", .redirect(to: "http://rebind.test:\(guarded.victim.port)/"))
        good.route("/", .body([1]))
        TestNames.set("rebind.test", to: ["127.0.0.2"], ["127.0.0.1"])

        // The name is resolved once for each connection: to an allowed address first, to a forbidden one for
        // the redirect.
        await #expect(throws: LoadError.nameForbidden) {
            try await guarded.load("http://rebind.test:\(lure.port)/")
        }
        // The other order: an address in libcurl's cache is checked like any other.
        TestNames.set("rebind2.test", to: ["127.0.0.1"], ["127.0.0.2"])
        await #expect(throws: LoadError.nameForbidden) {
            try await guarded.load("http://rebind2.test:\(good.port)/")
        }

        #expect(TestNames.lookUps(of: "rebind.test") == 2)
        #expect(lure.count("/") == 1)
        #expect(guarded.victim.log.connections == 0)
    }

    @Test(
        "at a port of another service is refused, also after a redirect",
        arguments: [1, 22, 25, 53, 110, 143, 389, 465, 587, 993, 2_049, 6_000, 6_667, 10_080])
    func badPort(port: Int) async throws {
        let guarded = try Guarded(allowed: ["127.0.0.1/32"])
        guarded.victim.route("/lure", .redirect(to: "http://127.0.0.1:\(port)/"))

        await #expect(throws: LoadError.addressForbidden("")) {
            try await guarded.load("http://127.0.0.1:\(port)/")
        }
        await #expect(throws: LoadError.addressForbidden("")) {
            try await guarded.load(guarded.victim.url("/lure"))
        }
    }

    @Test("that is a forbidden address or has a forbidden port is refused before the proxy gets a request")
    func behindProxy() async throws {
        let proxy = try FakeOrigin()
        let guarded = try Guarded { $0.proxy = "http://127.0.0.1:\(proxy.port)" }

        for url in ["http://169.254.169.254/", "http://[::1]/", "http://example.com:25/"] {
            await #expect(throws: LoadError.addressForbidden(""), "\(url)") { try await guarded.load(url) }
        }
        await #expect(throws: LoadError.status(404, retryAfter: nil)) {
            try await guarded.load("http://pictures.example/a")
        }
        #expect(proxy.log.requests.map(\.target) == ["http://pictures.example/a"])
    }
}
