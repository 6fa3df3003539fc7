// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ProxyCore

@Suite("The breaker of an origin")
struct HostBreakerTests {
    private let rules = FailedURLsConfiguration.Breaker()

    @Test("opens after so many failures in a row, and lets one probe through after its pause")
    func opens() throws {
        let hosts = hosts()
        for number in 0..<rules.failures {
            #expect(hosts.openCount == 0)
            fail(hosts, at: 1_000 + Int64(number))
        }
        let now = 1_000 + Int64(rules.failures) - 1

        #expect(hosts.openCount == 1)
        #expect(throws: PipelineError.hostUnavailable(retryAfter: 2)) { try hosts.admit(origin, at: now) }
        #expect(throws: PipelineError.hostUnavailable(retryAfter: 1)) { try hosts.admit(origin, at: now + 1) }
        #expect(try hosts.admit(origin, at: now + 2).isProbe)
        #expect(throws: PipelineError.hostUnavailable(retryAfter: 1)) { try hosts.admit(origin, at: now + 2) }
        #expect(try !hosts.admit(SourceURL.Origin(scheme: "https", host: "a", port: 80), at: now).isProbe)
    }

    @Test("doubles its pause with each probe that fails, up to a maximum")
    func grows() throws {
        let hosts = hosts()
        var now: Int64 = 0
        for _ in 0..<rules.failures { fail(hosts, at: now) }

        for pause in [2, 4, 8, 16, 32, 60, 60] as [Int64] {
            #expect(throws: PipelineError.hostUnavailable(retryAfter: Int(pause))) {
                try hosts.admit(origin, at: now)
            }
            now += pause
            hosts.report(try hosts.admit(origin, at: now), .timedOut(.connect), at: now)
        }
    }

    @Test("closes when a probe succeeds, and begins to count anew")
    func closes() throws {
        let hosts = hosts()
        for _ in 0..<rules.failures { fail(hosts, at: 0) }

        hosts.report(try hosts.admit(origin, at: 2), .status(500, retryAfter: nil), at: 2)

        #expect(hosts.openCount == 0)
        for _ in 1..<rules.failures { fail(hosts, at: 3) }
        #expect(try !hosts.admit(origin, at: 3).isProbe)
    }

    @Test("a probe that tells nothing makes room for the next one")
    func cancelledProbe() throws {
        let hosts = hosts()
        for _ in 0..<rules.failures { fail(hosts, at: 0) }

        hosts.report(try hosts.admit(origin, at: 2), .cancelled, at: 2)

        #expect(try hosts.admit(origin, at: 2).isProbe)
        #expect(hosts.openCount == 1)
    }

    @Test("what began before it opened makes it neither longer nor another's probe")
    func stragglers() throws {
        let hosts = hosts()
        let early = try hosts.admit(origin, at: 0)
        for _ in 0..<rules.failures { fail(hosts, at: 0) }
        let probe = try hosts.admit(origin, at: 2)

        hosts.report(early, .unreachable(""), at: 2)

        #expect(throws: PipelineError.hostUnavailable(retryAfter: 1)) { try hosts.admit(origin, at: 2) }
        hosts.report(probe, nil, at: 3)
        #expect(hosts.openCount == 0)
    }

    @Test(
        "only what shows that an origin can't be reached counts",
        arguments: [
            (LoadError.unreachable(""), true), (.tlsFailed(""), true), (.timedOut(.firstByte), true),
            (.timedOut(.transfer), true), (.status(503, retryAfter: nil), false), (.notAnImage, false),
            (.tooLarge, false), (.incomplete(""), false), (.cancelled, false), (.queueFull, false),
            (.addressForbidden, false), (.nameForbidden, true),
        ])
    func counts(error: LoadError, isCounted: Bool) throws {
        let hosts = hosts()
        for _ in 0..<rules.failures { hosts.report(try hosts.admit(origin, at: 0), error, at: 0) }

        #expect((hosts.openCount == 1) == isCounted)
    }

    @Test("failures that lie far apart are not in a row, nor are those around a success")
    func notInARow() throws {
        let hosts = hosts()
        for number in 0..<20 { fail(hosts, at: Int64(number) * 61) }
        #expect(hosts.openCount == 0)

        for _ in 0..<20 {
            fail(hosts, at: 2_000)
            hosts.report(try hosts.admit(origin, at: 2_000), nil, at: 2_000)
        }
        #expect(hosts.openCount == 0)
    }

    @Test("a failure behind a redirect is not that of the one who redirects")
    func redirects() throws {
        let hosts = hosts()
        let target = SourceURL.Origin(scheme: "http", host: "dead", port: 80)
        for _ in 0..<rules.failures {
            hosts.report(try hosts.admit(origin, at: 0), .unreachable(""), lastHop: target, at: 0)
        }

        #expect(try !hosts.admit(origin, at: 0).isProbe)
        #expect(throws: PipelineError.hostUnavailable(retryAfter: 2)) { try hosts.admit(target, at: 0) }
    }

    @Test("one who redirects when the time is up is to blame himself, and not where he redirects to")
    func slowRedirects() throws {
        let hosts = hosts()
        let victim = SourceURL.Origin(scheme: "http", host: "victim", port: 80)
        for _ in 0..<rules.failures {
            hosts.report(
                try hosts.admit(origin, at: 0), .timedOut(.transfer), lastHop: victim,
                culprit: .origin(origin), at: 0)
        }

        #expect(try !hosts.admit(victim, at: 0).isProbe)
        #expect(hosts.openCount == 1)
        #expect(throws: PipelineError.hostUnavailable(retryAfter: 2)) { try hosts.admit(origin, at: 0) }
    }

    @Test("time that several have used up together is nobody's failure, and ends a probe without a finding")
    func sharedTime() throws {
        let hosts = hosts()
        let other = SourceURL.Origin(scheme: "http", host: "other", port: 80)
        for _ in 0..<(2 * rules.failures) {
            let pass = try hosts.admit(origin, at: 0)
            hosts.report(pass, .timedOut(.transfer), lastHop: other, culprit: .nobody, at: 0)
        }
        #expect(hosts.openCount == 0)

        for _ in 0..<rules.failures { fail(hosts, at: 0) }
        let probe = try hosts.admit(origin, at: 100)
        #expect(probe.isProbe)
        hosts.report(probe, .timedOut(.transfer), culprit: .nobody, at: 100)
        #expect(try hosts.admit(origin, at: 100).isProbe)
    }

    @Test("an origin in the middle of a way is blamed for what it did")
    func middle() throws {
        let hosts = hosts()
        let middle = SourceURL.Origin(scheme: "http", host: "middle", port: 80)
        let last = SourceURL.Origin(scheme: "http", host: "last", port: 80)
        for _ in 0..<rules.failures {
            let pass = try hosts.admit(origin, at: 0)
            hosts.report(pass, .timedOut(.transfer), lastHop: last, culprit: .origin(middle), at: 0)
        }

        #expect(try !hosts.admit(origin, at: 0).isProbe)
        #expect(try !hosts.admit(last, at: 0).isProbe)
        #expect(throws: PipelineError.hostUnavailable(retryAfter: 2)) { try hosts.admit(middle, at: 0) }
    }

    @Test("chance shortens the pause by a fifth at most")
    func jitter() throws {
        var rules = rules
        rules.failures = 1
        rules.pause = .seconds(50)
        for (chance, seconds) in [(0, 50), (0.5, 45), (1, 40)] as [(Double, Int)] {
            let hosts = HostBreakers(rules: rules, random: { chance })
            fail(hosts, at: 0)
            #expect(throws: PipelineError.hostUnavailable(retryAfter: seconds)) {
                try hosts.admit(origin, at: 0)
            }
        }
    }

    @Test("no more origins are watched than configured")
    func bounded() throws {
        var rules = rules
        rules.failures = 1
        rules.maxHosts = 10
        let hosts = HostBreakers(rules: rules, random: { 0 })
        for port in 1...1_000 {
            let origin = SourceURL.Origin(scheme: "http", host: "a", port: port)
            hosts.report(try hosts.admit(origin, at: 0), .unreachable(""), at: 0)
        }

        #expect(hosts.openCount == 10)
    }

    @Test("other rules count from the next failure on, and forget origins beyond their number")
    func adopts() throws {
        var rules = rules
        let hosts = HostBreakers(rules: rules, random: { 0 })
        let other = SourceURL.Origin(scheme: "http", host: "b", port: 80)
        fail(hosts, at: 0)
        rules.failures = 2
        rules.maxHosts = 1

        hosts.adopt(rules)
        fail(hosts, at: 1)

        #expect(hosts.openCount == 1)
        hosts.report(try hosts.admit(other, at: 1), .unreachable(""), at: 1)
        #expect(hosts.openCount == 0)
        #expect(try !hosts.admit(origin, at: 1).isProbe)
    }

    // MARK: - Helpers

    private let origin = SourceURL.Origin(scheme: "http", host: "a", port: 80)

    private func hosts() -> HostBreakers {
        HostBreakers(rules: rules, random: { 0 })
    }

    private func fail(_ hosts: HostBreakers, at now: Int64, sourceLocation: SourceLocation = #_sourceLocation)
    {
        do {
            hosts.report(try hosts.admit(origin, at: now), .unreachable("refused"), at: now)
        } catch {
            Issue.record("refused too early: \(error)", sourceLocation: sourceLocation)
        }
    }
}
