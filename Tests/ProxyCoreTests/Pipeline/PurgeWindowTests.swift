// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import Cache
@testable import Freshness
@testable import Origins
@testable import Pipeline
@testable import Primitives
@testable import Request

@Suite("Between the beginning of a purge and its end")
struct PurgeWindowTests {
    private static let resize = "transform=resize:30x20&format=png"

    private let renderer = GatedRenderer()
    private let fixture: PipelineFixture
    private var tiers: ImageTiers { fixture.pipeline.tiers }

    init() throws {
        fixture = try PipelineFixture(renderer: renderer)
        fixture.origin.route(
            "/a.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=6000"), ("ETag", "\"1\"")]))
    }

    /// Runs a purge that finds the disk's writer busy until `meanwhile` has returned.
    private func purge(
        _ target: PurgeTarget, of request: ImageRequest, _ meanwhile: () async throws -> Void
    ) async throws {
        let disk = tiers.disk
        let (result, source) = (CacheKey(canonicalText: "x"), CacheKey(canonicalText: "y"))
        try await disk.link([TagLink(tag: "other", result: result, source: source)])
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let leave = DispatchSemaphore(value: 0)
        async let blocking = disk.removeAll(taggedWith: "other") { _ in
            arrival.finish()
            leave.wait()
        }
        for await _ in arrivals {}
        let before = tiers.purgeLog.token(for: request.resultKey, request.sourceKey)
        async let purge = fixture.pipeline.purge(target)
        while before.isValid { await Task.yield() }
        let outcome = await Result<Void, any Error> { try await meanwhile() }
        leave.signal()
        _ = try await (blocking, purge)
        try outcome.get()
    }

    @Test(
        "An entry that is still found on disk is answered, and not stored",
        arguments: ["", resize], [false, true])
    func found(plan: String, everything: Bool) async throws {
        renderer.gate.open()
        let request = try fixture.request("/a.jpg", plan)
        _ = try await fixture.get("/a.jpg", plan) { $0.waitsForStore = true }
        fixture.forgetMemory()

        let target = PurgeTarget.source(request.sourceKey)
        try await purge(everything ? .everything : target, of: request) {
            let hit = try await fixture.get("/a.jpg", plan)
            #expect(hit.provenance == .disk)
        }

        #expect(tiers.memory.statistics.entries == 0 && tiers.openFiles.statistics.entries == 0)
        #expect(tiers.disk.statistics.tally.entries == 0)
        _ = try await fixture.get("/a.jpg", plan)
        #expect(fixture.origin.count("/a.jpg") == 2)
    }

    @Test("No request joins what began before a purge, also where the source's key leaves out a parameter")
    func droppedParameter() async throws {
        var rule = OriginRuleConfiguration()
        rule.match = ["http://*"]
        rule.cacheKey = .init()
        rule.cacheKey?.dropQuery = ["sig"]
        let rules = try OriginRules([rule], secrets: .checking)
        let gate = OriginGate()
        fixture.origin.route("/b.jpg", OriginAnswer.body(Fixtures.photo).held(by: gate))
        let request = try fixture.request("/b.jpg?sig=1", rules: rules)

        async let first = fixture.pipeline.response(for: request)
        await fixture.origin.waitForRequests("/b.jpg", count: 1)
        _ = try await fixture.pipeline.purge(.source(request.sourceKey))
        async let second = fixture.pipeline.response(for: request)
        await fixture.origin.waitForRequests("/b.jpg", count: 2)
        gate.open()

        #expect(try await first.bytes == Fixtures.photo)
        #expect(try await second.bytes == Fixtures.photo)
    }

    @Test("A result of an original that is about to be removed is answered, and not stored")
    func made() async throws {
        let request = try fixture.request("/a.jpg", Self.resize)
        _ = try await fixture.get("/a.jpg") { $0.waitsForStore = true }
        fixture.forgetMemory()

        let making = Mutex<Task<ImageResponse, any Error>?>(nil)
        try await purge(.source(request.sourceKey), of: request) {
            making.withLock { $0 = Task { try await fixture.get("/a.jpg", Self.resize) } }
            await renderer.gate.arrival()
        }
        renderer.gate.open()
        _ = try await making.withLock { $0 }?.value
        #expect(fixture.origin.count("/a.jpg") == 1)

        #expect(tiers.memory.statistics.entries == 0 && tiers.openFiles.statistics.entries == 0)
        #expect(tiers.disk.statistics.tally.entries == 0)
        #expect(tiers.disk.storage.records.record(for: request.sourceKey) == nil)
    }
}

extension Result where Failure == any Error {
    /// The result of `body`.
    fileprivate init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
