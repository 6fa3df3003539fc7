// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Loading
@testable import Primitives
@testable import Sharing
@testable import URLs

@Suite("Nodes")
struct ClusterTests {
    private static let key = ClusterKey([UInt8](repeating: 7, count: 32))

    private func peers(_ names: [String], node: String = "me") throws -> ClusterPeers {
        var configuration = ClusterConfiguration()
        configuration.peers = names
        let loader = try CurlLoader(
            configuration: SharedTier.loaderConfiguration(SharedConfiguration(), maxEntryBytes: 1 << 20),
            addresses: .unrestricted)
        return ClusterPeers(configuration, key: Self.key, node: node, loader: loader)
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

    @Test("A purge is told to every node, signed; those that can't be reached, or refuse, are named")
    func telling() async throws {
        let (good, other, own) = (try FakeOrigin(), try FakeOrigin(), try FakeOrigin())
        let purge = SharedPurge(.everything, node: "me", milliseconds: 1)
        let target = "/cluster/purge?purge=" + purge.name
        good.route("/cluster/purge") { request in
            let isSigned = Self.key.isValid(
                request["imageproxyd-signature"] ?? "", request.method, request.target)
            return .status(
                isSigned && request.target == target ? 200 : 401, fields: [("Imageproxyd-Node", "you")])
        }
        other.route("/cluster/purge", .status(500))
        own.route("/cluster/purge", .status(200, fields: [("Imageproxyd-Node", "me")]))
        let closed = try ClosedPort()
        let names = [good.port, other.port, own.port, Int(closed.port)].map { "127.0.0.1:\($0)" }

        let outcome = try await peers(names + ["name.invalid:80", names[0]]).tell(purge)

        #expect(outcome.reached == 1)
        #expect(outcome.unreachable == [names[1], names[3], "name.invalid:80"].sorted())
    }

    @Test("When a node leaves, only its own sources move, and the homes are spread evenly")
    func homes() throws {
        let homes = ClusterHomes(try peers([]), key: Self.key, own: [], maxEntryBytes: 1)
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
