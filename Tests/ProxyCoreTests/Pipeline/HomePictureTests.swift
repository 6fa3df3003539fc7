// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Bodies
@testable import Cache
@testable import Freshness
@testable import Imaging
@testable import Loading
@testable import Pipeline
@testable import Primitives
@testable import Request
@testable import Sharing
@testable import URLs

@Suite("A picture from its home among the nodes")
struct HomePictureTests {
    private static let key = ClusterKey([UInt8](repeating: 7, count: 32))

    /// Homes of which all are at this port.
    private func homes(at home: FakeOrigin) throws -> ClusterHomes {
        var configuration = ClusterConfiguration()
        configuration.peers = ["127.0.0.1:\(home.port)"]
        let loader = try CurlLoader(
            configuration: ClusterHomes.loaderConfiguration(maxEntryBytes: 1 << 24), addresses: .unrestricted)
        return ClusterHomes(
            ClusterPeers(
                configuration, key: Self.key, node: "me", loader: loader, timer: SteppedTime()),
            key: Self.key,
            own: [],
            maxEntryBytes: 1 << 24, maxBytes: 1 << 24, loader: loader, isPurged: { _, _ in false })
    }

    @Test("An untransformed picture that the home has sent is answered as it came, and says so")
    func untouched() async throws {
        let home = try FakeOrigin()
        let fixture = try PipelineFixture(homes: try homes(at: home))
        let request = try fixture.request("/a.jpg")
        let hash = ContentHash(of: Fixtures.photo)
        let record = SourceRecord(
            key: request.sourceKey, keyText: request.sourceKeyText, contentHash: hash,
            byteCount: Fixtures.photo.count, format: .jpeg, responseTime: fixture.clock.now,
            freshnessLifetime: 36_000)
        let description = EntryDescription(
            kind: .original, key: request.sourceKey, keyText: request.sourceKeyText,
            sourceKey: request.sourceKey, sourceHash: hash, contentHash: hash, format: .jpeg,
            storedAt: fixture.clock.start)
        let content = try #require(
            // Of an hour ago: the fixture's clock stands still, that of the answer does not.
            HomeAnswer(record: record, age: 3_600, entry: PortableEntry(description, body: Fixtures.photo))
                .encoded())
        home.route("/cluster/image") { request in
            .body(
                content,
                fields: [
                    ("Imageproxyd-Node", "you"),
                    ("Imageproxyd-Signature", Self.key.signature(ofAnswer: content, to: request.target)),
                ])
        }

        let answer = try await fixture.get(
            "/a.jpg",
            context: FetchContext(asked: FetchContext.ForwardedRequest(target: "/img?url=a", accept: "")))

        #expect(answer.provenance == .shared)
        #expect(try answer.bytes == Fixtures.photo)
        #expect(home.count("/cluster/image") == 1 && fixture.origin.count("/a.jpg") == 0)
    }
}
