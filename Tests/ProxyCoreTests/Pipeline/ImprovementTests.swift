// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Bodies
@testable import Cache
@testable import Freshness
@testable import Imaging
@testable import Observability
@testable import Pipeline
@testable import Primitives
@testable import Rendering
@testable import Request
@testable import URLs

/// Renders at once, but holds background jobs at a gate, and may change its plan.
private final class BackgroundGate: ImageRendering {
    let gate = Gate()
    private let renderer = InProcessRenderer()
    private let change: @Sendable (inout RenderPlan, _ isBackground: Bool) -> Void

    init(_ change: @escaping @Sendable (inout RenderPlan, Bool) -> Void = { _, _ in }) {
        self.change = change
    }

    func render(
        _ plan: RenderPlan, from source: StoredBody, into destination: OwnedDescriptor, at offset: Int64,
        intermediateTarget: FilePlace?, for interest: Waiters
    ) async throws(RenderError) -> Rendition {
        var plan = plan
        if interest.isBackground { await gate.passage() }
        change(&plan, interest.isBackground)
        return try await renderer.render(
            plan, from: source, into: destination, at: offset, intermediateTarget: intermediateTarget,
            for: interest)
    }
}

@Suite("Results that are re-encoded with more effort")
struct ImprovementTests {
    private static let avif = "transform=resize:300x&format=avif"
    private static let fields = [("Cache-Control", "max-age=6000")]

    private func fixture(_ renderer: any ImageRendering = InProcessRenderer()) throws -> PipelineFixture {
        let fixture = try PipelineFixture(renderer: renderer)
        fixture.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))
        return fixture
    }

    /// Requests a picture twice; the second request starts what a hit starts.
    private func askTwice(_ fixture: PipelineFixture, _ parameters: String = avif) async throws
        -> ImageResponse
    {
        let first = try await fixture.get("/a.jpg", parameters) { $0.waitsForStore = true }
        let again = try await fixture.get("/a.jpg", parameters)
        fixture.pipeline.improve(again, as: try fixture.request("/a.jpg", parameters), for: nil)
        return first
    }

    private func outcome(_ fixture: PipelineFixture) async -> Metric.Improvement {
        while true {
            if let seen = Metric.Improvement.allCases.first(where: {
                fixture.metrics.transformImprovements.value($0) > 0
            }) {
                return seen
            }
            await Task.yield()
        }
    }

    @Test(
        "An improved result replaces the first one after a second request, smaller, in memory and on disk, once"
    )
    func replaced() async throws {
        let parameters = Self.avif
        let fixture = try fixture()
        let first = try await askTwice(fixture, parameters)

        #expect(first.description.stage == .fast)
        #expect(await outcome(fixture) == .replaced)
        let second = try await fixture.get("/a.jpg", parameters)
        #expect(second.provenance == .memory && second.description.stage == .final)
        #expect(second.body.count < first.body.count)
        #expect(second.description.contentHash != first.description.contentHash)
        fixture.forgetMemory()
        let third = try await fixture.get("/a.jpg", parameters)
        #expect(third.provenance == .disk && third.description.stage == .final)
        #expect(third.description.contentHash == second.description.contentHash)
        #expect(third.description.key == first.description.key)
        fixture.pipeline.improve(third, as: try fixture.request("/a.jpg", parameters), for: nil)
        #expect(fixture.pipeline.improvementCount == 0)
        #expect(fixture.origin.count("/a.jpg") == 1)
        let format = Metric.Format(named: third.description.format.rawValue)
        #expect(fixture.metrics.transforms.value(LabelPair(format, .ok)) == 2)
    }

    @Test("Only AVIF and JPEG XL without a maximum size are improved, and only with the setting")
    func which() async throws {
        let fixture = try fixture()
        var off = ImproveConfiguration()
        off.enabled = false
        let without = try PipelineFixture(improve: off)
        without.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))

        func stage(_ fixture: PipelineFixture, _ parameters: String) async throws -> ResultStage {
            try await fixture.get("/a.jpg", parameters).description.stage
        }

        #expect(try await stage(fixture, "transform=resize:300x&format=webp") == .final)
        #expect(try await stage(fixture, Self.avif + "&max_bytes=90000") == .kept)
        #expect(try await stage(fixture, "transform=resize:2000x:enlarge=1&format=avif") == .kept)
        #expect(try await stage(without, Self.avif) == .kept)
        let unstored = try await fixture.get(
            "/a.jpg", "transform=resize:310x&format=avif", asking: "no-store")
        #expect(unstored.description.stage == .kept)
        #expect(fixture.pipeline.shortLifetime(of: unstored.description) == nil)
    }

    @Test("A purge during an improvement keeps its result out of the cache")
    func purged() async throws {
        let renderer = BackgroundGate()
        let fixture = try fixture(renderer)
        _ = try await askTwice(fixture)
        await renderer.gate.arrival()

        _ = try await fixture.pipeline.purge(.source(fixture.request("/a.jpg").sourceKey))
        renderer.gate.open()

        #expect(await outcome(fixture) == .outdated)
        #expect(fixture.pipeline.tiers.memory.statistics.entries == 0)
        #expect(fixture.pipeline.tiers.disk.statistics.tally.entries == 0)
        _ = try await fixture.get("/a.jpg", Self.avif)
        #expect(fixture.origin.count("/a.jpg") == 2)
    }

    @Test("An improvement of a source that has changed meanwhile is dropped")
    func changed() async throws {
        let renderer = BackgroundGate()
        let fixture = try fixture(renderer)
        _ = try await askTwice(fixture)
        await renderer.gate.arrival()

        fixture.origin.route("/a.jpg", .body(Fixtures.photo(number: 2), fields: Self.fields))
        let changed = try await fixture.get("/a.jpg", Self.avif, asking: "no-cache")
        renderer.gate.open()

        #expect(await outcome(fixture) == .outdated)
        let now = try await fixture.get("/a.jpg", Self.avif)
        #expect(now.description.sourceHash == ContentHash(of: Fixtures.photo(number: 2)))
        #expect(now.description.contentHash == changed.description.contentHash)
        #expect(now.description.stage == .fast)
    }

    @Test(
        "An improvement that is not smaller is dropped, and the first result is then final, in memory and on disk"
    )
    func kept() async throws {
        let renderer = BackgroundGate { plan, isBackground in if isBackground { plan.quality = 95 } }
        renderer.gate.open()
        let fixture = try fixture(renderer)
        let first = try await askTwice(fixture)

        #expect(await outcome(fixture) == .kept)
        for forgets in [false, true] {
            if forgets { fixture.forgetMemory() }
            let now = try await fixture.get("/a.jpg", Self.avif)
            #expect(now.description.stage == .kept)
            #expect(now.description.contentHash == first.description.contentHash)
            #expect(fixture.pipeline.shortLifetime(of: now.description) == nil)
        }
    }

    @Test("Without its stored original a result stays as it is, and no request is sent to an origin")
    func gone() async throws {
        let fixture = try fixture()
        _ = try await fixture.get("/a.jpg", Self.avif) { $0.waitsForStore = true }
        let request = try fixture.request("/a.jpg", Self.avif)
        _ = try await fixture.pipeline.tiers.disk.remove(request.sourceKey, kind: .original)
        fixture.pipeline.tiers.memory.remove(request.sourceKey)
        let again = try await fixture.get("/a.jpg", Self.avif)

        fixture.pipeline.improve(again, as: request, for: nil)

        #expect(await outcome(fixture) == .kept)
        #expect(try await fixture.get("/a.jpg", Self.avif).description.stage == .kept)
        #expect(fixture.origin.count("/a.jpg") == 1)
    }

    @Test(
        "An improvement replaces a result in the cheapest format, which is otherwise fresh for ten minutes at most"
    )
    func cheapest() async throws {
        let isBusy = Observed(true)
        let renderer = BackgroundGate { plan, isBackground in
            plan.takesCheapest = !isBackground && isBusy.value
        }
        let fixture = try fixture(renderer)
        let request = try fixture.request(
            "/a.jpg", "transform=resize:300x", accept: "image/avif,image/webp,*/*")

        let first = try await fixture.pipeline.response(for: request)
        #expect(first.description.format == .jpeg && first.description.stage == .cheapest)
        #expect(fixture.pipeline.shortLifetime(of: first.description) == 60)
        fixture.clock.advance(by: 599)
        let hit = try await fixture.pipeline.response(for: request)
        #expect(hit.provenance == .memory && hit.description.format == .jpeg)
        #expect(fixture.metrics.transformCheapest.value(NoLabels()) == 1)

        isBusy.update { $0 = false }
        fixture.clock.advance(by: 1)
        #expect(fixture.pipeline.cachedEntry(for: request.resultKey, at: fixture.clock.now) == nil)
        let anew = try await fixture.pipeline.response(for: request)
        #expect(anew.description.format == .avif && anew.description.stage == .fast)

        isBusy.update { $0 = true }
        _ = try await fixture.pipeline.tiers.purge(key: request.resultKey, in: .all)
        _ = try await fixture.pipeline.response(for: request)
        fixture.pipeline.improve(try await fixture.pipeline.response(for: request), as: request, for: nil)
        renderer.gate.open()
        #expect(await outcome(fixture) == .replaced)
        let better = try await fixture.pipeline.response(for: request)
        #expect(better.description.format == .avif && better.description.stage == .final)
    }

    @Test(
        "A result made from the intermediate is improved from it",
        arguments: [(ImageFormat.avif, Metric.Improvement.replaced), (.jxl, .kept)])
    func derived(format: ImageFormat, improvement: Metric.Improvement) async throws {
        var configuration = IntermediateConfiguration()
        (configuration.side, configuration.minPixels) = (600, 100_000)
        let fixture = try PipelineFixture(intermediates: configuration)
        fixture.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))
        _ = try await fixture.get("/a.jpg", "transform=resize:200x&format=webp")
        _ = try await fixture.get("/a.jpg", "transform=resize:150x&format=webp")
        var formats = FormatsConfiguration()
        formats.decode.append(.jxl)
        let request = try fixture.request(
            "/a.jpg", "transform=resize:300x&format=\(format.rawValue)", formats: formats)

        var directives = RequestDirectives()
        directives.waitsForStore = true

        let first = try await fixture.pipeline.response(for: request, directives: directives)
        fixture.pipeline.improve(
            try await fixture.pipeline.response(for: request), as: request, for: nil)

        #expect(first.description.kind == .derived && first.description.stage == .fast)
        #expect(await outcome(fixture) == improvement)
        fixture.forgetMemory()
        let second = try await fixture.pipeline.response(for: request)
        #expect(second.description.kind == .derived && !second.description.stage.isImprovable)
    }

    // MARK: - Those that wait

    private func requests(_ count: Int, textBytes: Int = 0) throws -> [ImageRequest] {
        try (0..<count).map { number in
            let source = "http://a.example/\(number)\(String(repeating: "x", count: textBytes))"
            return ImageRequest(
                source: try SourceURL(parsing: source), plan: RenderPlan(format: .explicit(.avif)))
        }
    }

    @Test("The queue is bounded, holds each result once, and evicts those of the client with the most")
    func queue() throws {
        var queue = ImprovementQueue(capacity: 4)
        let (greedy, other) = (ClientID(v4: 1), ClientID(v4: 2))
        let requests = try requests(6)

        let added = requests.prefix(4).map { queue.add($0, for: greedy) }
        let repeated = queue.add(requests[0], for: other)
        let (refused, admitted) = (!queue.add(requests[4], for: greedy), queue.add(requests[5], for: other))
        #expect(added == [true, true, true, true] && repeated && refused && admitted)
        #expect(queue.count == 4)

        let begins = queue.begin(at: 100)
        let first = try #require(begins)
        let early = queue.begin(at: 100)
        #expect(early?.id == nil, "one at a time")
        queue.end(first, wasInterrupted: false, at: 100)
        let next = queue.begin(at: 100)
        let second = try #require(next)
        let begun = [first, second].map(\.request.resultKey)
        #expect(Set(begun) == [requests[0].resultKey, requests[5].resultKey])
        queue.end(second, wasInterrupted: true, at: 100)
        let (within, after) = (queue.begin(at: 104), queue.begin(at: 105))
        #expect(within?.id == nil, "a worker's start is work, too")
        #expect(after?.id != nil)
    }

    @Test("Queued improvements take at most 4 MiB of URLs, however many may wait")
    func bytes() throws {
        var queue = ImprovementQueue(capacity: 100_000)
        var waiting = 0
        for request in try requests(300, textBytes: 8_000) where queue.add(request, for: nil) { waiting += 1 }

        #expect((40...64).contains(waiting))
        while let item = queue.begin(at: 0) { queue.end(item, wasInterrupted: false, at: 0) }
        let request = try requests(1)[0]
        let isAdded = queue.add(request, for: nil)
        #expect(isAdded)
    }
}
