// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import Bodies
@testable import Cache
@testable import Freshness
@testable import ImageTestSupport
@testable import Imaging
@testable import Pipeline
@testable import Primitives
@testable import Request
@testable import Sharing

@Suite("What is requested, answered and stored")
struct StorageTests {
    private static let resize = "transform=resize:30x20&format=png"
    private static let fresh = [("Cache-Control", "max-age=6000")]
    private static let whileRevalidating = [("Cache-Control", "max-age=60, stale-while-revalidate=600")]

    /// The disk's entry of a request: the source's own bytes if nothing is to be made of them.
    private static func stored(_ request: ImageRequest, on disk: DiskCache) async throws -> DiskHit? {
        request.plan == nil
            ? try await disk.lookUp(request.sourceKey, kind: .original, keyText: request.sourceKeyText)
            : try await disk.lookUp(request.resultKey, kind: .result, keyText: request.resultKeyText)
    }

    @Test("A source that can't be fetched now does not forbid transforms of the stored copy")
    func refusedFetch() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route(
            "/a.jpg", inTurn: [.body(Fixtures.photo, fields: Self.whileRevalidating), .status(403)])
        _ = try await fixture.get("/a.jpg")
        fixture.clock.advance(by: 100)
        _ = try await fixture.get("/a.jpg")
        await fixture.refreshed()

        let made = try await fixture.get("/a.jpg", Self.resize)

        #expect(made.provenance == .stale(.whileRevalidating))
        #expect(fixture.origin.count("/a.jpg") == 2)
    }

    @Test("A file that is swept off the disk is not kept open")
    func swept() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fresh))
        let tiers = fixture.pipeline.tiers
        tiers.memory.resize(maxBytes: ByteCount(0))
        for parameters in ["", Self.resize] {
            _ = try await fixture.get("/a.jpg", parameters) { $0.waitsForStore = true }
            _ = try await fixture.get("/a.jpg", parameters)
            #expect(try tiers.openFiles.peek(fixture.request("/a.jpg", parameters).resultKey) != nil)
        }

        // Until all files are known a sweep removes none for space.
        while !tiers.disk.statistics.isComplete { await Task.yield() }
        var tiny = DiskCacheConfiguration()
        tiny.maxBytes = ByteCount(1)
        tiers.disk.adopt(tiny)
        try await tiers.disk.sweep()

        #expect(try await Self.stored(fixture.request("/a.jpg", Self.resize), on: tiers.disk) == nil)
        #expect(tiers.openFiles.statistics.entries == 0)
        #expect(tiers.bodyFiles.count == 0)
    }

    @Test("wait-store writes an entry that is only in memory to disk before it is answered")
    func waitStore() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fresh))
        let disk = fixture.pipeline.tiers.disk
        for parameters in ["", Self.resize] {
            let request = try fixture.request("/a.jpg", parameters)
            _ = try await fixture.get("/a.jpg", parameters) { $0.memoryOnly = true }
            #expect(try await Self.stored(request, on: disk) == nil)

            let waited = try await fixture.get("/a.jpg", parameters) { $0.waitsForStore = true }

            #expect(waited.provenance == .memory)
            #expect(waited.isDurable)
            #expect(fixture.pipeline.tiers.peek(request.resultKey)?.isDurable == true)
            #expect(try await Self.stored(request, on: disk) != nil)
        }
        fixture.forgetMemory()
        #expect(try await fixture.get("/a.jpg").provenance == .disk)
        #expect(try await fixture.get("/a.jpg", Self.resize).provenance == .disk)
    }

    @Test("wait-store waits for an earlier answer's write, and only once")
    func waitStoreLater() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fresh))
        let request = try fixture.request("/a.jpg", Self.resize)
        _ = try await fixture.get("/a.jpg", Self.resize)
        #expect(fixture.pipeline.tiers.peek(request.resultKey)?.isDurable == false)

        _ = try await fixture.get("/a.jpg", Self.resize) { $0.waitsForStore = true }
        let entry = try #require(fixture.pipeline.tiers.peek(request.resultKey))
        #expect(entry.isDurable)

        _ = try await fixture.get("/a.jpg", Self.resize) { $0.waitsForStore = true }
        #expect(fixture.pipeline.tiers.peek(request.resultKey) === entry)
        #expect(fixture.origin.count("/a.jpg") == 1)
    }

    @Test("wait-store does not rewrite what is on disk already")
    func waitStoreInPlace() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fresh))
        let disk = fixture.pipeline.tiers.disk
        for parameters in ["", Self.resize] {
            _ = try await fixture.get("/a.jpg", parameters)
            await disk.flush()
            let request = try fixture.request("/a.jpg", parameters)
            func identity() async throws -> VerifiedFiles.Identity? {
                guard case .file(let file, _, _) = try await Self.stored(request, on: disk)?.body else {
                    return nil
                }
                return try file.identity()
            }
            let before = try #require(try await identity())

            for _ in 1...2 {
                fixture.forgetMemory()
                let waited = try await fixture.get("/a.jpg", parameters) { $0.waitsForStore = true }
                #expect(waited.isDurable && waited.isStored)
                #expect(try await identity() == before)
            }
        }
        #expect(disk.statistics.tally.entries == 2)
        #expect(fixture.origin.count("/a.jpg") == 1)
    }

    @Test("A source that is too large is refused only to requests that do not shrink it")
    func tooLargeForOthers() async throws {
        let fixture = try PipelineFixture()
        let large = try TestPicture.ramps(400, 200).encoded(as: .jpeg)
        fixture.origin.route("/a.jpg", .body(large, fields: Self.fresh))
        func get(_ more: String) async throws -> ImageResponse {
            let request = try fixture.request("/a.jpg", "transform=resize:50x" + more)
            var plan = try #require(request.plan)
            plan.limits.sourcePixels = 20_000
            return try await fixture.pipeline.response(for: request.made(by: plan), directives: .none)
        }

        for more in ["", "&frame=3&options=scale-down-large"] {
            let error = await #expect(throws: PipelineError.self) { try await get(more) }
            #expect(error?.row == PipelineError.tooManyPixels.row)
            #expect(error?.detail == "the source is 400x200 = 80000 pixels, limits.sourcePixels is 20000")
        }
        #expect(try await get("&options=scale-down-large").description.width == 50)
        #expect(try await get("&frame=0&options=scale-down-large").description.width == 50)
        let again = await #expect(throws: PipelineError.self) { try await get("") }
        #expect(again?.row == PipelineError.tooManyPixels.row)
    }

    @Test("A drawing is requested once, and its answer says that it was")
    func drawing() async throws {
        let fixture = try PipelineFixture()
        let text = """
            <svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><rect width="9" height="9"/></svg>
            """
        fixture.origin.route("/a.svg", .body(Array(text.utf8), type: "image/svg+xml", fields: Self.fresh))

        #expect(try await fixture.get("/a.svg").provenance == .fetched(.missing))
        #expect(fixture.origin.count("/a.svg") == 1)
        #expect(try await fixture.get("/a.svg").provenance == .memory)
        #expect(try await fixture.get("/a.svg", asking: "no-cache").provenance == .fetched(.request))
        #expect(fixture.origin.count("/a.svg") == 2)
    }

    @Test("only-if-cached starts no refresh of its answer (RFC 9111 §5.2.1.7)")
    func onlyIfCached() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.whileRevalidating))
        _ = try await (fixture.get("/a.jpg"), fixture.get("/a.jpg", Self.resize))
        fixture.clock.advance(by: 100)

        for parameters in ["", Self.resize, "transform=resize:31x20&format=png"] {
            let answer = try await fixture.get("/a.jpg", parameters, asking: "only-if-cached")
            #expect(answer.provenance == .stale(.whileRevalidating))
        }
        #expect(fixture.pipeline.refreshes.withLock(\.count) == 0)
        #expect(fixture.origin.count("/a.jpg") == 1)
    }

    @Test(
        "Cache-Status has the origin's own status, and a result voided by a purge does not count as stored (RFC 9211 §2)"
    )
    func cacheStatus() async throws {
        let fixture = try PipelineFixture()
        let gate = OriginGate()
        fixture.origin.route("/203.jpg", .body(Fixtures.photo, status: 203, fields: Self.fresh))
        fixture.origin.route(
            "/slow.jpg", OriginAnswer.body(Fixtures.photo, fields: Self.fresh).held(by: gate))

        #expect(try await fixture.get("/203.jpg").originStatus == 203)
        let slow = Task { try await fixture.get("/slow.jpg") }
        await fixture.origin.waitForRequests("/slow.jpg")
        _ = try await fixture.pipeline.tiers.purge(
            source: fixture.request("/slow.jpg").sourceKey, in: .all)
        gate.open()
        let voided = try await slow.value

        #expect(!voided.isStored)
        #expect(try await fixture.get("/slow.jpg").isStored)
    }

    @Test("What is uploaded of a kept file has the source's whole record, not the short one of the file")
    func wholeRecord() async throws {
        let fixture = try PipelineFixture(results: .disk)
        fixture.origin.route(
            "/a.jpg", OriginAnswer.validated(Fixtures.photo, entityTag: "\"1\"", fields: Self.fresh))
        let tiers = fixture.pipeline.tiers
        let request = try fixture.request("/a.jpg", Self.resize)
        _ = try await fixture.get("/a.jpg", Self.resize) { $0.waitsForStore = true }
        fixture.forgetMemory()
        tiers.disk.storage.records.removeAll()
        // Until all records are known, the file's own is not believed.
        while !tiers.disk.statistics.isComplete { await Task.yield() }

        for _ in 0..<2 { _ = fixture.pipeline.lookUpInPageCache(request) }
        let kept = try #require(tiers.peek(request.resultKey))
        #expect(kept.record.isPartial && kept.record.keyText == request.sourceKeyText)

        let record = try #require(await tiers.content(of: SharedSubject(request), isOriginal: false)?.record)
        #expect(
            !record.isPartial && record.reuse.entityTag == "\"1\"" && record.keyText == request.sourceKeyText)
    }
}
