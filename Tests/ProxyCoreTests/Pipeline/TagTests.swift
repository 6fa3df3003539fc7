// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Cache
@testable import Pipeline
@testable import Primitives

@Suite("Tags and purges by tag")
struct TagTests {
    private static let resize = "transform=resize:30x20&format=png"
    private static let other = "transform=resize:15x10&format=png"
    private static let fresh = [("Cache-Control", "max-age=600"), ("ETag", "\"1\"")]

    private let fixture: PipelineFixture
    private var pipeline: ImagePipeline { fixture.pipeline }

    init() throws {
        fixture = try PipelineFixture()
        fixture.origin.route(
            "/a.jpg", OriginAnswer.validated(Fixtures.photo, entityTag: "\"1\"", fields: Self.fresh))
    }

    private func links(_ tag: String) async throws -> Int {
        try await pipeline.tiers.disk.links(ofTag: tag).count
    }

    @Test(
        "A tag of a hit can be purged like one of the first request",
        arguments: ["", resize])
    func taggedHit(plan: String) async throws {
        let tags = plan.isEmpty ? "tag=" : plan + "&tag="
        _ = try await fixture.get("/a.jpg", tags + "one")
        let hit = try await fixture.get("/a.jpg", tags + "two,three")

        let counts = try await pipeline.purge(.tag("three"))
        let later = try await fixture.get("/a.jpg", plan)

        #expect(hit.provenance == .memory && hit.isTagged)
        #expect(counts.memory == 1)
        #expect(later.provenance != .memory && later.provenance != .disk)
    }

    @Test("A tag that is purged while its picture is made is linked to it again when the picture is answered")
    func purgedMeanwhile() async throws {
        let gate = OriginGate()
        fixture.origin.route("/b.jpg", OriginAnswer.body(Fixtures.photo, fields: Self.fresh).held(by: gate))
        async let response = fixture.get("/b.jpg", Self.resize + "&tag=spring")
        _ = await fixture.origin.waitForRequests("/b.jpg")

        _ = try await pipeline.purge(.tag("spring"))
        #expect(try await links("spring") == 0)
        gate.open()

        #expect(try await response.isTagged)
        #expect(try await links("spring") == 1)
    }

    @Test("A link is removed before its purge begins, so that a request meanwhile writes it again afterwards")
    func forgottenFirst() async throws {
        let disk = pipeline.tiers.disk
        let links = [
            TagLink(tag: "spring", result: CacheKey(canonicalText: "a"), source: CacheKey(canonicalText: "b"))
        ]
        try await disk.link(links)
        let unknown = Observed<[TagLink]>([])

        _ = try await disk.removeAll(taggedWith: "spring") { found in
            unknown.update { $0 = disk.storage.tags.unknown(of: found) }
        }
        try await disk.link(links)

        #expect(unknown.value == links)
        #expect(try await disk.links(ofTag: "spring") == links)
    }

    @Test(
        "A purge of a tag prevents joins to the running tasks of its sources, under the tag or not",
        arguments: PurgedTiers.allCases)
    func tasksOfSource(tiers: PurgedTiers) async throws {
        let gate = OriginGate()
        let answer = OriginAnswer.validated(Fixtures.photo, entityTag: "\"1\"", fields: Self.fresh)
        _ = try await fixture.get("/a.jpg", Self.resize + "&tag=spring")
        fixture.origin.route("/a.jpg") { answer($0).held(by: gate) }
        async let response = fixture.get("/a.jpg", Self.other, asking: "no-cache")
        _ = await fixture.origin.waitForRequests("/a.jpg", count: 2)

        _ = try await pipeline.purge(.tag("spring"), in: tiers)
        let tasks = pipeline.taskCounts
        gate.open()

        #expect(tasks.images == 0 && tasks.fetches == 0)
        #expect(try await response.entry == nil)
    }

    @Test("What stays in memory when everything is purged from disk can still be purged by its tag")
    func keptInMemory() async throws {
        _ = try await fixture.get("/a.jpg", Self.resize + "&tag=spring")

        _ = try await pipeline.purge(.everything, in: .disk)
        let hit = try await fixture.get("/a.jpg", Self.resize + "&tag=spring")
        let counts = try await pipeline.purge(.tag("spring"))

        #expect(hit.provenance == .memory)
        #expect(counts.memory == 1)
    }

    @Test(
        "Evicted links remove their results, so that no purge misses them",
        arguments: ["", resize])
    func pushedOut(plan: String) async throws {
        let fixture = try PipelineFixture(tagLinks: 2)
        let answer = OriginAnswer.validated(Fixtures.photo, entityTag: "\"1\"", fields: Self.fresh)
        for name in ["a", "b", "c"] {
            fixture.origin.route("/\(name).jpg", answer)
            _ = try await fixture.get("/\(name).jpg", "\(plan)\(plan.isEmpty ? "" : "&")tag=\(name)")
            fixture.forgetMemory()
            _ = try await fixture.get("/\(name).jpg", plan)
        }
        let disk = fixture.pipeline.tiers.disk
        var left: [String] = []
        try await disk.sweep()
        for name in ["a", "b", "c"] where try await !disk.links(ofTag: name).isEmpty { left.append(name) }
        let gone = try #require(["a", "b", "c"].first { !left.contains($0) })

        let counts = try await fixture.pipeline.purge(.tag(gone))
        let answers = fixture.origin.count("/\(gone).jpg")
        _ = try await fixture.get("/\(gone).jpg", plan)

        #expect(left.count == 2)
        #expect(counts.memory == 0 && counts.disk == 0 && !counts.mayLackSome)
        // Nothing answers without the origin's confirmation: what was evicted before the purge was requested
        // is gone.
        #expect(fixture.origin.count("/\(gone).jpg") == answers + 1)
        let kept = try await fixture.pipeline.purge(.tag(left[0]))
        #expect(kept.memory + kept.disk > 0 || plan.isEmpty)
    }
}
