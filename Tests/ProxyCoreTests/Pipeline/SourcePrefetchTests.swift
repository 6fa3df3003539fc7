// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Cache
@testable import Freshness
@testable import Origins
@testable import Pipeline
@testable import Request

@Suite("Prefetching the images of a source")
struct SourcePrefetchTests {
    @Test("A stored original is not the picture of a rule that encodes anew")
    func reencoded() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route("/a.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=60")]))
        var rule = OriginRuleConfiguration()
        rule.match = ["http://*"]
        rule.reencode = true
        let request = try fixture.request("/a.jpg", rules: OriginRules([rule], secrets: .checking))
        _ = try await fixture.get("/a.jpg") { $0.waitsForStore = true }
        fixture.forgetMemory()

        var prefetch = SourcePrefetch(fixture.pipeline, PrefetchSlots(count: 1))
        let (first, second) = (await prefetch.image(for: request), await prefetch.image(for: request))

        guard case .made = first else {
            Issue.record("\(first)")
            return
        }
        guard case .stored = second else {
            Issue.record("\(second)")
            return
        }
        #expect(fixture.origin.count("/a.jpg") == 1)
    }

    @Test("What was fetched during a purge of everything is fetched once more when that has ended")
    func purgeThatEnds() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route("/a.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=60")]))
        let purges = fixture.pipeline.tiers.purgeLog
        purges.beginAll()
        let time = PassingTime { if $0 == 3 { purges.endAll() } }

        var prefetch = SourcePrefetch(fixture.pipeline, PrefetchSlots(count: 1), timer: time)
        let outcome = await prefetch.image(for: try fixture.request("/a.jpg"))

        guard case .made = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(time.sleeps == Array(repeating: .milliseconds(500), count: 3))
        #expect(fixture.origin.count("/a.jpg") == 2)
    }

    @Test("The end of a purge of everything is waited for half a minute")
    func endlessPurge() async throws {
        let (fixture, time) = (try PipelineFixture(), PassingTime())
        fixture.origin.route("/a.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=60")]))
        fixture.pipeline.tiers.purgeLog.beginAll()

        var prefetch = SourcePrefetch(fixture.pipeline, PrefetchSlots(count: 1), timer: time)
        let outcome = await prefetch.image(for: try fixture.request("/a.jpg"))

        guard case .unstorable = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(time.sleeps == Array(repeating: .milliseconds(500), count: 60))
    }
}
