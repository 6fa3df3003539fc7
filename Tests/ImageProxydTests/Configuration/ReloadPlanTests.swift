// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Cache
@testable import Freshness
@testable import Answering
@testable import ImageProxyd
@testable import Loading
@testable import Observability
@testable import Primitives
@testable import Rendering

@Suite("The plan of a reload")
struct ReloadPlanTests {
    private func plan(_ change: (inout ProxyConfiguration) -> Void) -> ReloadPlan {
        var read = ProxyConfiguration()
        change(&read)
        return ReloadPlan(running: ProxyConfiguration(), read: read)
    }

    @Test("Equal settings give an empty plan")
    func nothing() {
        let plan = plan { _ in }

        #expect(plan.applied.isEmpty && plan.waiting.isEmpty)
        #expect(plan.next == ProxyConfiguration())
    }

    @Test("Settings that a reload takes are applied at once")
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

    @Test("A reload applies bounds, times and amounts of fetches, jobs, tiers and failures")
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

    @Test("Without workers, the settings of jobs need a restart")
    func withoutWorkers() {
        var running = ProxyConfiguration()
        running.transform.isolation = .none
        var read = running
        read.transform.timeout = .seconds(3)

        #expect(ReloadPlan(running: running, read: read).waiting == ["transform.timeout"])
    }

    @Test(
        "A mixture that would open a public admin listener to any client is a problem, though both files are valid"
    )
    func mixture() {
        var running = ProxyConfiguration()
        running.admin.listen = ["0.0.0.0:8081"]
        running.admin.token = "/etc/imageproxyd/token"
        let plan = ReloadPlan(running: running, read: ProxyConfiguration())

        #expect(running.problems().isEmpty && ProxyConfiguration().problems().isEmpty)
        #expect(plan.next.problems().map(\.path) == ["admin.listen"])
    }

    @Test("Settings that need a restart keep their running value")
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
