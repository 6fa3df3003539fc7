// SPDX-License-Identifier: Apache-2.0

import Cache
import TestSupport
import Testing

@testable import Primitives
@testable import Sharing

/// One store for all tests of the suite; each has a bucket of its own.
private let running = Result { try TestSupport.ObjectStore() }

@Suite("Nodes that share a store")
struct SharedTierNodeTests {
    private let store: TestSupport.ObjectStore
    private let folder: TemporaryDirectory
    private let origin: FakeOrigin

    init() throws {
        store = try running.get()
        folder = try TemporaryDirectory()
        try folder.write(Array("testing\n".utf8), to: "secret")
        try folder.write(Array(String(repeating: "k", count: 40).utf8), to: "key")
        origin = try FakeOrigin()
        origin.route("/a.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=3600")]))
    }

    /// The journal is read as often as can be set, by real time: no test advances the clock of a process.
    private func settings(_ bucket: String, at url: String, _ members: String) -> String {
        #"""
        "shared": {"bucket": {"url": "s3://\#(bucket)/", "region": "us-east-1", "endpoint": "\#(url)"},
            "auth": {"type": "awsSigV4", "accessKey": "test:tester", "secretKey": {"file": "\#(folder.path)/secret"}},
            "minCost": "0ms", "journalInterval": "1s"\#(members)},
        "cluster": {"key": "\#(folder.path)/key"}
        """#
    }

    private func node(
        _ bucket: String, in place: TemporaryDirectory? = nil, at url: String? = nil,
        _ members: String = #", "timeout": "10s""#
    ) async throws -> Proxy {
        try await Proxy(settings: settings(bucket, at: url ?? store.url, members), in: place, origin: origin)
    }

    /// Waits until a node has done so many exchanges of a kind.
    private func wait(for count: Double, _ operation: String, _ outcome: String = "ok", at node: Proxy)
        async throws
    {
        let name = #"imageproxyd_shared_requests_total{operation="\#(operation)",outcome="\#(outcome)"}"#
        while try await node.metric(name) < count {}
    }

    private let small = "transform=resize:40x&format=png"

    @Test("What one node has made another one serves, and makes other sizes of, without the origin")
    func shared() async throws {
        try await store.put([1], as: ["nodes/first"])
        let (first, second) = (try await node("nodes"), try await node("nodes"))

        let made = try await first.get(first.target("/a.jpg", small))
        // The result, its record, and the original.
        try await wait(for: 3, "put", at: first)
        let served = try await second.get(second.target("/a.jpg", small))
        let again = try await second.get(second.target("/a.jpg", small))
        let other = try await second.get(second.target("/a.jpg", "transform=resize:30x&format=png"))
        let third = try await node("nodes")
        let untouched = try await third.get(third.target("/a.jpg"))

        #expect(made.status == 200 && served.body == made.body && served["ETag"] == made["ETag"])
        #expect(served["Cache-Status"]?.contains("detail=shared") == true)
        #expect(again["Cache-Status"]?.contains("detail=memory") == true)
        #expect(other.pngSize?.first == 30)
        let isWhole = untouched.body == Fixtures.photo
        #expect(isWhole && untouched["Cache-Status"]?.contains("detail=shared") == true)
        #expect(origin.count("/a.jpg") == 1)
    }

    @Test("A picture that the store lacks is looked for once")
    func missing() async throws {
        try await store.put([1], as: ["missing/first"])
        let (first, second) = (try await node("missing"), try await node("missing"))
        _ = try await first.get(first.target("/a.jpg", small))
        try await wait(for: 3, "put", at: first)
        let missing = #"imageproxyd_shared_requests_total{operation="get",outcome="missing"}"#
        // The start reads the store's clock from the answer about an object that never exists.
        let before = try await second.metric(missing)

        let other = try await second.get(second.target("/a.jpg", "transform=resize:30x&format=png"))
        let lookUps = try await second.metric(missing) - before

        #expect(other.pngSize?.first == 30 && lookUps == 1)
        #expect(origin.count("/a.jpg") == 1)
    }

    @Test("A home that refuses a picture is asked for it once")
    func refusingHome() async throws {
        try await store.put([1], as: ["refusing/first"])
        let (first, home) = (try await node("refusing"), try FakeOrigin())
        _ = try await first.get(first.target("/a.jpg", small))
        try await wait(for: 3, "put", at: first)
        home.route("/cluster/image", .status(503))
        let peers = #""cluster": {"forward": true, "peers": ["127.0.0.1:\#(home.port)"], "#
        let settings = settings("refusing", at: store.url, #", "timeout": "10s""#)
            .replacing(#""cluster": {"#, with: peers)
        let second = try await Proxy(settings: settings, origin: origin)

        let other = try await second.get(second.target("/a.jpg", "transform=resize:30x&format=png"))

        #expect(other.pngSize?.first == 30)
        #expect(home.count("/cluster/image") == 1 && origin.count("/a.jpg") == 1)
    }

    @Test("A stale picture that the store has is served, and refreshed behind it", .timeLimit(.minutes(20)))
    func stale() async throws {
        try await store.put([1], as: ["stale/first"])
        let fields = [("Cache-Control", "max-age=0, stale-while-revalidate=3600")]
        origin.route("/b.jpg", .body(Fixtures.photo, fields: fields))
        let (first, second) = (try await node("stale"), try await node("stale"))
        _ = try await first.get(first.target("/b.jpg", small))
        try await wait(for: 3, "put", at: first)
        #expect(origin.count("/b.jpg") == 1)

        let served = try await second.get(second.target("/b.jpg", small))

        #expect(served["Cache-Status"]?.contains("detail=stale-while-revalidate") == true)
        _ = await origin.waitForRequests("/b.jpg", count: 2)
    }

    @Test("A purge at one node reaches the memory and the disk of the others, and the store")
    func purged() async throws {
        try await store.put([1], as: ["purged/first"])
        let (first, second) = (try await node("purged"), try await node("purged"))
        _ = try await first.get(first.target("/a.jpg", small))
        try await wait(for: 3, "put", at: first)
        _ = try await second.get(second.target("/a.jpg", small))

        let answer = try await first.administer("DELETE", "/cache", about: "/a.jpg")
        // Until the second has read the journal.
        while try await second.get(second.target("/a.jpg", small))["Cache-Status"]?.contains("hit") == true {}

        #expect(answer.text.contains(#""shared": {"deleted": 3, "complete": true}"#), "\(answer.text)")
        #expect(origin.count("/a.jpg") == 2)
    }

    @Test("A node that was off during a purge does not serve what was purged when it is back")
    func offDuringPurge() async throws {
        try await store.put([1], as: ["off/first"])
        let place = try TemporaryDirectory()
        let first = try await node("off")
        let second = try await node("off", in: place)
        _ = try await second.get(second.target("/a.jpg", small))
        try await wait(for: 3, "put", at: second)
        second.daemon.send(signal: 15)
        _ = try await second.daemon.exitCode()

        _ = try await first.administer("DELETE", "/cache", about: "/a.jpg")
        let back = try await node("off", in: place)
        let answer = try await back.get(back.target("/a.jpg", small))

        #expect(answer["Cache-Status"]?.contains("fwd=uri-miss") == true, "\(answer.fields)")
        #expect(origin.count("/a.jpg") == 2)
    }

    @Test("A store that hangs harms no hit, delays a miss by shared.timeout, and is then left alone")
    func hanging() async throws {
        let store = try TestSupport.ObjectStore()
        try await store.put([1], as: ["hanging/first"])
        // Real time, as little as can be set: a node is a process, whose clock no test advances.
        let node = try await node("hanging", at: store.url, #", "timeout": "10ms""#)
        for index in 0..<8 {
            origin.route("/\(index).jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=3600")]))
        }
        _ = try await node.get(node.target("/a.jpg", small))
        store.pause()
        defer { store.resume() }

        let hit = try await node.get(node.target("/a.jpg", small))
        for index in 0..<8 {
            #expect(try await node.get(node.target("/\(index).jpg", small)).status == 200)
        }

        #expect(hit["Cache-Status"]?.contains("detail=memory") == true)
        #expect(try await node.metric("imageproxyd_shared_breaker_open") == 1)
        #expect(
            try await node.metric(#"imageproxyd_shared_requests_total{operation="get",outcome="skipped"}"#)
                > 0)
    }

    @Test("A node starts and serves where the store can't be reached, and says so in its log")
    func unreachable() async throws {
        let port = try HeldPort()
        let node = try await node("none", at: port.url("/"))

        let answer = try await node.get(node.target("/a.jpg", small))
        let purge = try await node.administer("DELETE", "/cache", about: "/a.jpg")

        #expect(answer.status == 200)
        #expect(
            node.daemon.log.contains("the journal of purges can't be read, so the shared tier is not used"))
        #expect(purge.text.contains(#""complete": false"#), "\(purge.text)")
    }

    @Test("A damaged object is a miss, and whole again afterwards")
    func damaged() async throws {
        try await store.put([1], as: ["damaged/first"])
        let first = try await node("damaged")
        let made = try await first.get(first.target("/a.jpg", small))
        try await wait(for: 3, "put", at: first)
        let listing = try await first.administer("GET", "/cache", about: "/a.jpg")
        let keys = listing.text.matches(of: /"kind": "result", "key": "([0-9a-f]{32})"/).map { String($0.1) }
        let source = try #require(listing.text.firstMatch(of: /"source": \{"key": "([0-9a-f]{32})"/)?.1)
        let name = "damaged/\(source.prefix(2))/r/\(source)/\(try #require(keys.first))"
        try await store.put(Array("nonsense".utf8), as: [name])

        let second = try await node("damaged")
        let served = try await second.get(second.target("/a.jpg", small))
        try await wait(for: 1, "put", at: second)
        let third = try await node("damaged")
        let repaired = try await third.get(third.target("/a.jpg", small))

        #expect(served.status == 200 && served.body == made.body)
        #expect(served["Cache-Status"]?.contains("detail=shared") == false)
        #expect(repaired.body == made.body && repaired["Cache-Status"]?.contains("detail=shared") == true)
        #expect(origin.count("/a.jpg") == 1)
    }

    // MARK: - Requests of other nodes

    @Test("A node does a purge that another one reports, if the cluster's key has signed it")
    func reportedPurge() async throws {
        let node = try await Proxy(
            settings: #""cluster": {"peers": ["127.0.0.1:1"], "key": "\#(folder.path)/key"}"#, origin: origin)
        let key = ClusterKey([UInt8](repeating: UInt8(ascii: "k"), count: 40))
        _ = try await node.get(node.target("/a.jpg", small))
        let now = SystemTime.seconds()
        func target(_ target: PurgeTarget, at time: Int64) -> String {
            "/cluster/purge?purge=" + SharedPurge(target, node: "other", milliseconds: time * 1_000).name
        }
        func post(_ target: String, signature: String? = nil) async throws -> RawHTTPClient.Answer {
            try await node.ask(
                "POST", target, "Imageproxyd-Signature: \(signature ?? key.signature("POST", target))",
                "Content-Length: 0")
        }
        func isStored() async throws -> Bool {
            try await node.get(node.target("/a.jpg", small))["Cache-Status"]?.contains("hit") == true
        }

        #expect(try await post(target(.everything, at: now), signature: "").status == 401)
        #expect(
            try await post(target(.everything, at: now), signature: key.signature("POST", "/")).status == 401)
        #expect(try await post("/cluster/purge?purge=x").status == 400)
        #expect(try await post("/cluster/other").status == 404)
        #expect(try await post(target(.everything, at: now - 100_000)).status == 409)
        #expect(try await isStored(), "a message that is too old is not done")

        let purge = target(.everything, at: now)
        #expect(try await post(purge).status == 200)
        #expect(try await !isStored())
        #expect(try await post(purge).status == 200)
        #expect(try await isStored(), "a message that is repeated is not done again")
    }

    @Test("A node that is asked by itself says so, signed")
    func ownRequest() async throws {
        let node = try await Proxy(
            settings: #""cluster": {"peers": ["127.0.0.1:1"], "key": "\#(folder.path)/key"}"#, origin: origin)
        let key = ClusterKey([UInt8](repeating: UInt8(ascii: "k"), count: 40))
        func get(_ target: String, _ lines: String...) async throws -> RawHTTPClient.Answer {
            try await node.get(
                target, lines: ["Imageproxyd-Signature: \(key.signature("GET", target))"] + lines)
        }
        let name = try #require(try await get("/cluster/node")["Imageproxyd-Node"])
        let target = "/cluster/image?target=a"

        let answer = try await get(target, "Imageproxyd-Node: \(name)")

        #expect(answer.status == 409 && answer.body == ClusterHomes.ownAnswer(name))
        #expect(answer["Imageproxyd-Signature"] == key.signature(ofAnswer: answer.body, to: target))
    }

    @Test("A purge that the store does not take is written by the next process", .timeLimit(.minutes(20)))
    func unwrittenPurge() async throws {
        try await store.put([1], as: ["unwritten/first"])
        let (port, place) = (try HeldPort(), try TemporaryDirectory())
        let first = try await node("unwritten", in: place, at: port.url("/"))
        let purge = try await first.administer("DELETE", "/cache", about: "/a.jpg")
        first.daemon.send(signal: 9)
        _ = try await first.daemon.exitCode()

        let second = try await node("unwritten", in: place)

        #expect(purge.text.contains(#""complete": false"#), "\(purge.text)")
        try await wait(for: 1, "put", at: second)
    }

    @Test("A node of its own has no route for others")
    func alone() async throws {
        let node = try await Proxy(origin: origin)
        #expect(try await node.ask("POST", "/cluster/purge?purge=x", "Content-Length: 0").status != 401)
        #expect(try await node.get("/cluster/image").status == 404)
    }
}
