// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Cache
@testable import Loading
@testable import Primitives
@testable import Sharing
@testable import URLs

@Suite("Nodes")
struct ClusterTests {
    private static let key = ClusterKey([UInt8](repeating: 7, count: 32))

    private func peers(
        _ names: [String], node: String = "me", timer: any Clock<Duration> = ContinuousClock()
    ) throws -> ClusterPeers {
        var configuration = ClusterConfiguration()
        configuration.peers = names
        let loader = try CurlLoader(
            configuration: SharedTier.loaderConfiguration(SharedConfiguration(), maxEntryBytes: 1 << 20),
            addresses: .unrestricted)
        return ClusterPeers(configuration, key: Self.key, node: node, loader: loader, timer: timer)
    }

    @Test(
        "A node is named by host and port",
        arguments: [
            ("10.0.0.1:80", "http", "10.0.0.1", 80), ("[::1]:8080", "http", "[::1]", 8080),
            ("https://a.example:443", "https", "a.example", 443), ("http://a:1", "http", "a", 1),
        ])
    func named(text: String, scheme: String, host: String, port: Int) throws {
        let peer = try #require(ClusterPeer(text))
        #expect(peer == ClusterPeer(scheme: scheme, host: host, port: port))
    }

    @Test(
        "Anything else is refused",
        arguments: [
            "", "a", ":80", "a:0", "a:65536", "a:b", "ftp://a:1", "a:1/x", "::1:80", "u@a:1", "a b:1",
        ])
    func refused(text: String) {
        #expect(ClusterPeer(text) == nil)
    }

    @Test("A signature is good for one method and one target")
    func signature() {
        let signature = Self.key.signature("POST", "/cluster/purge?purge=1")
        #expect(Self.key.isValid(signature, "POST", "/cluster/purge?purge=1"))
        #expect(!Self.key.isValid(signature, "GET", "/cluster/purge?purge=1"))
        #expect(!Self.key.isValid(signature, "POST", "/cluster/purge?purge=2"))
        #expect(!Self.key.isValid("", "POST", "/cluster/purge?purge=1"))
        #expect(
            !ClusterKey([UInt8](repeating: 8, count: 32)).isValid(signature, "POST", "/cluster/purge?purge=1")
        )
    }

    /// A node's answer, signed as nodes do.
    private static func signed(
        _ content: [UInt8] = Array("{}".utf8), to target: String, by node: String = "you"
    ) -> OriginAnswer {
        .body(
            content,
            fields: [
                ("Imageproxyd-Node", node),
                ("Imageproxyd-Signature", key.signature(ofAnswer: content, to: target)),
            ])
    }

    @Test("A purge is broadcast to every node, signed; those that can't be reached, or refuse, are named")
    func broadcast() async throws {
        let (good, refusing, own, forged) = (
            try FakeOrigin(), try FakeOrigin(), try FakeOrigin(), try FakeOrigin()
        )
        let purge = SharedPurge(.everything, node: "me", milliseconds: 1)
        let target = "/cluster/purge?purge=" + purge.name
        good.route("/cluster/purge") { request in
            let signature = request["imageproxyd-signature"] ?? ""
            let isSigned = Self.key.isValid(signature, request.method, request.target)
            return isSigned && request.target == target ? Self.signed(to: target) : .status(401)
        }
        refusing.route("/cluster/purge", .status(409))
        own.route("/cluster/purge", Self.signed(to: target, by: "me"))
        forged.route("/cluster/purge", .status(200, fields: [("Imageproxyd-Node", "me")]))
        let closed = try HeldPort()
        let names = [good.port, refusing.port, own.port, forged.port, Int(closed.port)].map {
            "127.0.0.1:\($0)"
        }

        let outcome = try await peers(names + ["name.invalid:80", names[0]]).broadcast(purge)

        #expect(outcome.reached == 1)
        #expect(outcome.unreachable == [names[1], names[3], names[4], "name.invalid:80"].sorted())
    }

    // MARK: - Homes

    private static let subject = SharingFixture.subject

    /// The picture of the sample as its home sends it.
    private func answer(_ fixture: SharingFixture) throws -> [UInt8] {
        try #require(
            HomeAnswer(record: fixture.record(), age: 7, entry: fixture.entry()).encoded())
    }

    private func homes(
        at home: FakeOrigin, timer: any Clock<Duration> = ContinuousClock(),
        isPurged: @escaping @Sendable (SharedSubject, Int64) -> Bool = { _, _ in false }
    ) throws -> ClusterHomes {
        let homes = ClusterHomes(
            try peers(["127.0.0.1:\(home.port)"], timer: timer), key: Self.key, own: [],
            maxEntryBytes: 1 << 20,
            maxBytes: 1 << 20,
            loader: try CurlLoader(
                configuration: ClusterHomes.loaderConfiguration(maxEntryBytes: 1 << 20),
                addresses: .unrestricted), isPurged: isPurged)
        return homes
    }

    private func picture(_ homes: ClusterHomes) async -> PortableEntry? {
        await homes.picture(of: Self.subject, target: "/img?url=a", accept: "image/webp", client: nil)?.entry
    }

    @Test(
        "A node gets the picture that its home has made; not one from before a purge, nor one that is not signed"
    )
    func asking() async throws {
        let (fixture, home) = (try SharingFixture(), try FakeOrigin())
        let content = try answer(fixture)
        home.route("/cluster/image") { Self.signed(content, to: $0.target) }

        let found = await picture(try homes(at: home))
        let purged = await picture(try homes(at: home, isPurged: { _, age in age == 7 }))
        home.route("/cluster/image", .body(content))
        let forged = await picture(try homes(at: home))

        #expect(found?.body == SharingFixture.picture)
        #expect(
            home.log.requests.first?.target == "/cluster/image?target=%2Fimg%3Furl%3Da&accept=image%2Fwebp")
        #expect(purged == nil && forged == nil)
    }

    @Test("A node that asks itself learns that it is the home")
    func itself() async throws {
        let home = try FakeOrigin()
        home.route("/cluster/image") { request in
            let content = ClusterHomes.ownAnswer("me")
            return .body(
                content, status: 409,
                fields: [("Imageproxyd-Signature", Self.key.signature(ofAnswer: content, to: request.target))]
            )
        }
        let homes = try homes(at: home)

        for _ in 0..<3 { #expect(await picture(homes) == nil) }

        #expect(home.count("/cluster/image") == 1)
    }

    @Test("No other host makes a node believe that it is the home")
    func notItself() async throws {
        let (fixture, home) = (try SharingFixture(), try FakeOrigin())
        let content = try answer(fixture)
        home.route("/cluster/image") { request in
            // Signed, as a host on the way may have it, with another status.
            .body(
                content, status: 409,
                fields: [("Imageproxyd-Signature", Self.key.signature(ofAnswer: content, to: request.target))]
            )
        }
        let homes = try homes(at: home)
        #expect(await picture(homes) == nil)
        home.route("/cluster/image") { Self.signed(content, to: $0.target) }

        #expect(await picture(homes)?.body == SharingFixture.picture)
    }

    @Test("A node refuses an unsigned answer that it is the home")
    func unsignedRefusal() async throws {
        let home = try FakeOrigin()
        home.route("/cluster/image", .body(ClusterHomes.ownAnswer("me"), status: 409))
        let peers = try peers([])

        await #expect(throws: ExchangeError.self) {
            _ = try await peers.exchange(
                "GET", "/cluster/image?target=a",
                with: ClusterPeer(scheme: "http", host: "127.0.0.1", port: home.port),
                atMost: 1_024, within: .seconds(60))
        }
    }

    @Test("A picture from a home whose clock is ahead is stored now")
    func homeAhead() async throws {
        let (fixture, home) = (try SharingFixture(), try FakeOrigin())
        var entry = fixture.entry()
        entry.description.storedAt = 1 << 49
        let content = try #require(HomeAnswer(record: fixture.record(), age: 7, entry: entry).encoded())
        home.route("/cluster/image") { Self.signed(content, to: $0.target) }

        let found = try #require(await picture(try homes(at: home)))

        #expect(found.description.storedAt <= SystemTime.seconds())
    }

    @Test("A home that does not answer is left alone, one that is slow or overloaded is not")
    func silent() async throws {
        let (fixture, home) = (try SharingFixture(), try FakeOrigin())
        let (content, gate) = (try answer(fixture), OriginGate())
        home.route("/cluster/node") { Self.signed(to: $0.target) }
        home.route("/cluster/image") { Self.signed(content, to: $0.target).held(by: gate) }
        let time = SteppedTime()
        let homes = try homes(at: home, timer: time)

        async let slow = picture(homes)
        // The time after which the home is asked whether it is there, and the time that it may take.
        await time.advance(by: .seconds(1), when: 2)
        await home.wait { $0.completions["/cluster/node"] == 1 }
        await time.advance(by: .zero, when: 1)
        gate.open()
        #expect(await slow?.body == SharingFixture.picture)
        home.route("/cluster/image", .status(503))
        #expect(await picture(homes) == nil)
        home.route("/cluster/image", .silence)
        home.route("/cluster/node", .silence)
        async let silent = picture(homes)
        await home.waitForRequests("/cluster/image", count: 3)
        await time.advance(by: .seconds(1), when: 2)
        await home.waitForRequests("/cluster/node", count: 2)
        await time.advance(by: .seconds(1), when: 2)
        #expect(await silent == nil)
        let asked = home.count("/cluster/image")
        #expect(await picture(homes) == nil)

        #expect(home.count("/cluster/image") == asked && asked == 3)
    }

    @Test("When a node leaves, only its own sources move, and the homes are spread evenly")
    func homes() throws {
        let homes = ClusterHomes(
            try peers([]), key: Self.key, own: [], maxEntryBytes: 1, maxBytes: 1,
            loader: try CurlLoader(configuration: FetchConfiguration(), addresses: .unrestricted),
            isPurged: { _, _ in false })
        let nodes = (1...10).map { ClusterPeer(scheme: "http", host: "10.0.0.\($0)", port: 8080) }
        let sources = (0..<3_000).map { CacheKey(canonicalText: "source http://o/\($0).jpg") }
        homes.adopt(nodes)
        let before = sources.map { homes.home(of: $0) }
        homes.adopt(nodes.reversed())
        #expect(sources.map { homes.home(of: $0) } == before, "their order does not matter")
        homes.adopt(Array(nodes.dropLast()))
        let moved = zip(sources, before).filter { homes.home(of: $0) != $1 }

        #expect(moved.allSatisfy { $0.1 == nodes.last })
        let counts = nodes.map { node in before.count { $0 == node } }
        #expect(counts.allSatisfy { (200...400).contains($0) }, "\(counts)")
    }
}
