// SPDX-License-Identifier: Apache-2.0

import ProxyCore
import Testing

@testable import ImageProxyd

@Suite("What a reload makes of settings that were read again")
struct ReloadPlanTests {
    private func plan(_ change: (inout ProxyConfiguration) -> Void) -> ReloadPlan {
        var read = ProxyConfiguration()
        change(&read)
        return ReloadPlan(running: ProxyConfiguration(), read: read)
    }

    @Test("nothing, where nothing differs")
    func nothing() {
        let plan = plan { _ in }

        #expect(plan.applied.isEmpty && plan.waiting.isEmpty)
        #expect(plan.next == ProxyConfiguration())
    }

    @Test("what can change at once does")
    func applied() {
        let plan = plan {
            $0.security.sources = ["https://a.example/*"]
            $0.freshness.maximum = .days(1)
            $0.log.level = .debug
        }

        #expect(plan.applied == ["freshness.maximum", "security.sources", "log.level"])
        #expect(plan.waiting.isEmpty)
        #expect(plan.next.security.sources == ["https://a.example/*"])
    }

    @Test("bounds, times and amounts of fetches, jobs, tiers and failures do, too")
    func values() {
        let plan = plan {
            $0.fetch.maxBytes = .mebibytes(1)
            $0.fetch.headers = ["X-Us": "1"]
            $0.cache.memory.maxBytes = .mebibytes(64)
            $0.cache.disk.maxAge = .days(1)
            $0.failedURLs.breaker.failures = 2
            $0.transform.timeout = .seconds(3)
            $0.transform.linearLight = true
        }

        #expect(plan.waiting.isEmpty)
        #expect(
            Set(plan.applied) == [
                "fetch.maxBytes", "fetch.headers.X-Us", "cache.memory.maxBytes", "cache.disk.maxAge",
                "failedURLs.breaker.failures", "transform.timeout", "transform.linearLight",
            ])
    }

    @Test("without workers, what jobs go by needs a restart")
    func withoutWorkers() {
        var running = ProxyConfiguration()
        running.transform.isolation = .none
        var read = running
        read.transform.timeout = .seconds(3)

        #expect(ReloadPlan(running: running, read: read).waiting == ["transform.timeout"])
    }

    @Test(
        "a mixture that would let anybody into a public admin listener is a problem, though both settings are right"
    )
    func mixture() {
        var running = ProxyConfiguration()
        running.admin.listen = ["0.0.0.0:8081"]
        running.admin.token = "/etc/imageproxyd/token"
        let plan = ReloadPlan(running: running, read: ProxyConfiguration())

        #expect(running.problems().isEmpty && ProxyConfiguration().problems().isEmpty)
        #expect(plan.next.problems().map(\.path) == ["admin.listen"])
    }

    @Test("what needs a restart stays as it runs")
    func waiting() {
        let plan = plan {
            $0.listen = ["127.0.0.1:1"]
            $0.cache.memory.maxEntries = 1
            $0.fetch.http2 = false
            $0.transform.workers = 3
            $0.security.trustFetchProxy = true
        }

        #expect(plan.applied.isEmpty)
        #expect(
            Set(plan.waiting) == [
                "listen", "security.trustFetchProxy", "fetch.http2", "cache.memory.maxEntries",
                "transform.workers",
            ])
        #expect(plan.next == ProxyConfiguration())
    }
}
