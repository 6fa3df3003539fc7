// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Bodies
@testable import Cache
@testable import Freshness
@testable import Pipeline
@testable import Primitives
@testable import Request

@Suite("Results that become outdated while they are made")
struct OvertakenTests {
    private static let resize = "transform=resize:30x20&format=png"
    private static let fresh = [("Cache-Control", "max-age=6000")]
    private static let old = Fixtures.photo(number: 1)
    private static let new = Fixtures.photo(number: 2)

    /// A condition that is true the first time that it is read.
    private func firstTime() -> @Sendable () -> Bool {
        let isFirst = Observed(true)
        return {
            isFirst.update { value in
                defer { value = false }
                return value
            }
        }
    }

    @Test("A result of bytes that have changed meanwhile is answered, and not stored")
    func changed() async throws {
        let renderer = GatedRenderer()
        let fixture = try PipelineFixture(renderer: renderer)
        fixture.origin.route(
            "/a.jpg", inTurn: [.body(Self.old, fields: Self.fresh), .body(Self.new, fields: Self.fresh)])
        let slow = Task { try await fixture.get("/a.jpg", Self.resize) }
        await renderer.gate.arrival()

        _ = try await fixture.get("/a.jpg", asking: "no-cache")
        renderer.gate.open()
        let overtaken = try await slow.value
        let later = try await fixture.get("/a.jpg", Self.resize)

        #expect(overtaken.description.sourceHash == ContentHash(of: Self.old))
        #expect(overtaken.entry == nil && !overtaken.isStored)
        #expect(later.description.sourceHash == ContentHash(of: Self.new))
        #expect(fixture.origin.count("/a.jpg") == 2)
    }

    @Test("A result of bytes that were revalidated meanwhile has their freshness")
    func confirmed() async throws {
        let renderer = GatedRenderer()
        let fixture = try PipelineFixture(renderer: renderer)
        fixture.origin.route("/a.jpg") { request in
            request["if-none-match"] == nil
                ? .body(
                    Self.old,
                    fields: [
                        ("Cache-Control", "max-age=60, stale-while-revalidate=600"), ("ETag", "\"1\""),
                    ])
                : .status(304, fields: Self.fresh + [("ETag", "\"1\"")])
        }
        _ = try await fixture.get("/a.jpg")
        fixture.clock.advance(by: 100)
        let slow = Task { try await fixture.get("/a.jpg", Self.resize) }
        await renderer.gate.arrival()
        await fixture.refreshed()
        renderer.gate.open()
        _ = try await slow.value

        let later = try await fixture.get("/a.jpg", Self.resize)

        #expect(later.provenance == .memory)
        #expect(later.record.reuse.freshnessLifetime == 6_000)
        #expect(fixture.origin.count("/a.jpg") == 2)
    }

    @Test(
        "An original that is altered while its transform waits is fetched anew, and the altered bytes are not used"
    )
    func altered() async throws {
        let renderer = GatedRenderer()
        let fixture = try PipelineFixture(renderer: renderer)
        for path in ["/a.jpg", "/b.jpg"] { fixture.origin.route(path, .body(Self.old, fields: Self.fresh)) }
        _ = try await fixture.get("/a.jpg") { $0.waitsForStore = true }
        fixture.forgetMemory()
        let slow = Task { try await fixture.get("/a.jpg", Self.resize) }
        await renderer.gate.arrival()

        let name = try #require(fixture.folder.files.first { $0.hasPrefix("originals/") })
        var file = try fixture.folder.read(name)
        for place in stride(from: file.count / 2, to: file.count - 64, by: 97) { file[place] ^= 0x10 }
        try fixture.folder.write(file, to: name)
        renderer.gate.open()
        let result = try await slow.value

        #expect(try await result.bytes == fixture.get("/b.jpg", Self.resize).bytes)
        #expect(fixture.failures.list(limit: 9, at: fixture.clock.now.seconds).isEmpty)
        #expect(fixture.origin.count("/a.jpg") == 2)
        fixture.forgetMemory()
        #expect(try await fixture.get("/a.jpg").bytes == Self.old)
        #expect(fixture.origin.count("/a.jpg") == 2)
    }

    @Test(
        "A failure of a request from before a purge is not remembered, and removes nothing",
        arguments: [404, 410, 403])
    func refused(status: Int) async throws {
        let fixture = try PipelineFixture()
        let gate = OriginGate()
        let isFirst = firstTime()
        fixture.origin.route("/a.jpg") { _ in
            isFirst()
                ? OriginAnswer([.wait(gate), .send(OriginAnswer.head(status, [("Content-Length", "0")]))])
                : .body(Self.new, fields: Self.fresh)
        }
        let slow = Task { try await fixture.get("/a.jpg") }
        await fixture.origin.waitForRequests("/a.jpg")

        _ = try await fixture.pipeline.purge(.source(try fixture.request("/a.jpg").sourceKey))
        _ = try await fixture.get("/a.jpg") { $0.waitsForStore = true }
        gate.open()
        _ = await slow.result

        #expect(fixture.failures.list(limit: 9, at: fixture.clock.now.seconds).isEmpty)
        #expect(try await fixture.get("/a.jpg").bytes == Self.new)
        #expect(fixture.origin.count("/a.jpg") == 2)
    }

    @Test("A fetch that ends after a later one does not replace its result (RFC 9111 §4)")
    func late() async throws {
        let fixture = try PipelineFixture()
        let gate = OriginGate()
        let dates = [20, 10].map { HTTPDate(seconds: fixture.clock.start - $0).description }
        let head = OriginAnswer.head(
            200, Self.fresh + [("Content-Length", "\(Self.old.count)"), ("Date", dates[0])])
        let isFirst = firstTime()
        fixture.origin.route("/a.jpg") { _ in
            isFirst()
                ? OriginAnswer([
                    .send(head + Self.old.prefix(64)), .wait(gate), .send(Array(Self.old.dropFirst(64))),
                ])
                : .body(Self.new, fields: Self.fresh + [("Date", dates[1])])
        }
        let slow = Task { try await fixture.get("/a.jpg") }
        await fixture.origin.waitForRequests("/a.jpg")

        _ = try await fixture.get("/a.jpg") { $0.waitsForStore = true }
        gate.open()
        let overtaken = try await slow.value

        #expect(try overtaken.bytes == Self.old)
        #expect(overtaken.entry == nil && !overtaken.isStored)
        #expect(try await fixture.get("/a.jpg").bytes == Self.new)
        fixture.forgetMemory()
        #expect(try await fixture.get("/a.jpg").bytes == Self.new)
        #expect(fixture.origin.count("/a.jpg") == 2)
    }

    @Test(
        "A later response replaces an earlier one with a later Date: the origin's clock was set back"
    )
    func clockSetBack() async throws {
        let fixture = try PipelineFixture()
        let dates = [10, 1_000].map { HTTPDate(seconds: fixture.clock.start - $0).description }
        fixture.origin.route(
            "/a.jpg",
            inTurn: [
                .body(Self.old, fields: Self.fresh + [("Date", dates[0])]),
                .body(Self.new, fields: Self.fresh + [("Date", dates[1])]),
            ])
        _ = try await fixture.get("/a.jpg")

        _ = try await fixture.get("/a.jpg", asking: "no-cache")

        #expect(try await fixture.get("/a.jpg").bytes == Self.new)
    }

    @Test("New bytes that may not be written to disk make the stored ones unreachable")
    func memoryOnly() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route(
            "/a.jpg", inTurn: [.body(Self.old, fields: Self.fresh), .body(Self.new, fields: Self.fresh)])
        _ = try await fixture.get("/a.jpg", Self.resize)

        _ = try await fixture.get("/a.jpg") { client in
            client.refreshesCached = true
            client.memoryOnly = true
        }

        #expect(try await fixture.get("/a.jpg").provenance == .memory)
        fixture.forgetMemory()
        #expect(
            try await fixture.get("/a.jpg", Self.resize).description.sourceHash == ContentHash(of: Self.new))
        #expect(fixture.origin.count("/a.jpg") == 3)
    }
}
