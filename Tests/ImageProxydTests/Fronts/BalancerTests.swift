// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("A home for each source, by the examples of deploy/fronts/cluster", .serialized)
struct BalancerTests {
    private static let installed = Balancer.Kind.allCases.filter(\.isInstalled)
    private static let nodeCount = 100
    private static let sourceCount = 3_000
    /// The node that leaves: one in the middle of the list.
    private static let leaving = 41

    @Test("Each of the three is tried: make test-packages installs them")
    func complete() {
        #expect(Self.installed == Balancer.Kind.allCases)
    }

    @Test("Of 3,000 sources only those of the node that leaves get another home", arguments: installed)
    func leaves(kind: Balancer.Kind) async throws {
        let nodes = try (1...Self.nodeCount).map { try Balancer.Node($0) }
        let before = try await Self.homes(kind, nodes)
        let after = try await Self.homes(kind, nodes.filter { $0.number != Self.leaving })

        let moved = zip(before, after).filter { $0 != $1 }
        #expect(moved.allSatisfy { $0.0 == Self.leaving }, "\(moved.count) of \(before.count) moved")
        #expect(moved.count == before.count { $0 == Self.leaving } && !moved.isEmpty)
        // Three times its share at most, where the share is 30.
        let largest = Dictionary(grouping: before) { $0 }.values.map(\.count).max() ?? 0
        #expect(Set(before).count == Self.nodeCount && largest <= 90, "\(largest)")
    }

    @Test("Without an id for each node HAProxy moves most sources")
    func withoutIdentifiers() async throws {
        guard Balancer.Kind.haproxy.isInstalled else { return }
        let nodes = try (1...Self.nodeCount).map { try Balancer.Node($0) }
        let before = try await Self.homes(.haproxy, nodes, hasIdentifiers: false)
        let after = try await Self.homes(
            .haproxy, nodes.filter { $0.number != Self.leaving }, hasIdentifiers: false)

        #expect(zip(before, after).count { $0 != $1 } > Self.sourceCount / 3)
    }

    private static func homes(
        _ kind: Balancer.Kind, _ nodes: [Balancer.Node], hasIdentifiers: Bool = true
    ) async throws -> [Int] {
        let balancer = try await Balancer(kind, nodes, hasIdentifiers: hasIdentifiers)
        return try await balancer.homes(ofSources: sourceCount)
    }

    @Test("All sizes of a source have one home; purges and nodes' requests are refused", arguments: installed)
    func requests(kind: Balancer.Kind) async throws {
        let nodes = try (1...3).map { try Balancer.Node($0) }
        for node in nodes { node.origin.route("/cluster/purge", .status(204)) }
        let balancer = try await Balancer(kind, nodes)
        let counts = { nodes.map { $0.origin.count("/img") } }
        let before = counts()

        for size in 1...20 {
            let target = "/img?transform=resize:\(size)x&url=https%3A%2F%2Fwww.example.com%2Fmedia%2Fcat.jpg"
            #expect(try await balancer.status("GET", target) == 200)
        }

        let requests = zip(before, counts()).map { $1 - $0 }.sorted()
        #expect(requests.reduce(0, +) == 20)
        // HAProxy moves on beyond one and a half times a node's share, which is one request here: the one before counts
        // until its connection has been put back.
        #expect(kind == .haproxy ? requests[2] >= 15 : requests[2] == 20, "\(requests)")
        for (method, target) in [
            ("DELETE", "/cache?all=1"), ("PURGE", "/img?url=https%3A%2F%2Fwww.example.com%2Fmedia%2Fcat.jpg"),
            ("POST", "/cluster/purge"), ("GET", "/cluster/purge"),
        ] {
            #expect(try await balancer.status(method, target) == 403, "\(method) \(target)")
        }
        #expect(nodes.allSatisfy { $0.origin.count("/cluster/purge") == 0 })
    }
}
