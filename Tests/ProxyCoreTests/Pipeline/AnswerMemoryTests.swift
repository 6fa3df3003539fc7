// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Bodies
@testable import Cache
@testable import Pipeline
@testable import Primitives
@testable import Request

@Suite("The memory of an answer that no tier holds in memory")
struct AnswerMemoryTests {
    private static let resize = "transform=resize:300x&format=png"

    private func fixture(
        _ control: String, results: CacheConfiguration.StorePolicy = .all
    ) throws -> PipelineFixture {
        let fixture = try PipelineFixture(results: results)
        fixture.origin.route("/a.jpg", .body(Fixtures.photo, fields: [("Cache-Control", control)]))
        return fixture
    }

    @Test("A result that memory does not get is sent from its file")
    func file() async throws {
        let fixture = try fixture("max-age=600", results: .disk)

        let made = try await fixture.get("/a.jpg", Self.resize)
        let hit = try await fixture.get("/a.jpg", Self.resize)

        #expect(!made.body.isInMemory)
        #expect(try made.bytes == hit.bytes)
    }

    @Test("A result that must not be stored is counted in memory until its last answer ends")
    func lease() async throws {
        let fixture = try fixture("no-store")
        let memory = fixture.pipeline.tiers.memory

        var made: ImageResponse? = try await fixture.get("/a.jpg", Self.resize)
        let held = memory.statistics.heldBytes
        let count = made?.body.count ?? 0
        made = nil

        #expect(count > 4_096 && held >= count)
        while memory.statistics.heldBytes > held - count { await Task.yield() }
    }

    @Test("Where answers hold as much memory as they may, one is sent from a file without a name")
    func unnamedFile() async throws {
        let fixture = try fixture("no-store")
        let all = fixture.pipeline.tiers.memory.lease(128 << 20)
        #expect(all != nil)

        let made = try await fixture.get("/a.jpg", Self.resize)

        #expect(!made.body.isInMemory)
        #expect(try Array(made.bytes.prefix(4)) == [0x89, 0x50, 0x4E, 0x47])
        let key = try fixture.request("/a.jpg", Self.resize).resultKey
        #expect(!fixture.pipeline.tiers.disk.mayContain(key, kind: .result))
        withExtendedLifetime(all) {}
    }
}
