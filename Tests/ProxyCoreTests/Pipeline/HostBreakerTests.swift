// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Cache
@testable import Loading
@testable import Pipeline
@testable import Primitives
@testable import URLs

@Suite("The breaker of an origin")
struct HostBreakerTests {
    private let rules = FailedURLsConfiguration.Breaker()

    @Test("The breaker opens after consecutive failures, and permits one probe after its pause")
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

    @Test("Each failed probe doubles the pause, up to a maximum")
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

    @Test("A successful probe closes the breaker, and counting begins anew")
    func closes() throws {
        let hosts = hosts()
        for _ in 0..<rules.failures { fail(hosts, at: 0) }

        hosts.report(try hosts.admit(origin, at: 2), .status(500, retryAfter: nil), at: 2)

        #expect(hosts.openCount == 0)
        for _ in 1..<rules.failures { fail(hosts, at: 3) }
        #expect(try !hosts.admit(origin, at: 3).isProbe)
    }

    @Test("A probe without a result lets the next one start")
    func cancelledProbe() throws {
        let hosts = hosts()
        for _ in 0..<rules.failures { fail(hosts, at: 0) }

        hosts.report(try hosts.admit(origin, at: 2), .cancelled, at: 2)

        #expect(try hosts.admit(origin, at: 2).isProbe)
        #expect(hosts.openCount == 1)
    }

    @Test("A request from before it opened neither extends the pause nor ends a probe")
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
        "Only failures to connect count",
        arguments: [
            (LoadError.unreachable(""), true), (.tlsFailed(""), true), (.timedOut(.connect), true),
            (.disconnected(""), false), (.timedOut(.firstByte), false), (.timedOut(.transfer), false),
            (.status(503, retryAfter: nil), false), (.notAnImage(""), false),
            (.tooLarge, false), (.incomplete(""), false), (.cancelled, false), (.queueFull, false),
            (.addressForbidden(""), false), (.nameForbidden, true),
        ])
    func counts(error: LoadError, isCounted: Bool) throws {
        let hosts = hosts()
        for _ in 0..<rules.failures { hosts.report(try hosts.admit(origin, at: 0), error, at: 0) }

        #expect((hosts.openCount == 1) == isCounted)
    }

    @Test("Failures far apart, or around a success, are not consecutive")
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

    @Test("A failure behind a redirect does not count against the redirecting origin")
    func redirects() throws {
        let hosts = hosts()
        let target = SourceURL.Origin(scheme: "http", host: "dead", port: 80)
        for _ in 0..<rules.failures {
            hosts.report(try hosts.admit(origin, at: 0), .unreachable(""), lastHop: target, at: 0)
        }

        #expect(try !hosts.admit(origin, at: 0).isProbe)
        #expect(throws: PipelineError.hostUnavailable(retryAfter: 2)) { try hosts.admit(target, at: 0) }
    }

    @Test("An answer, or a request that was sent, counts as a successful connection")
    func connected() throws {
        for error in [.disconnected(""), .timedOut(.firstByte), .status(429, retryAfter: 9)] as [LoadError] {
            let hosts = hosts()
            for _ in 1..<rules.failures { fail(hosts, at: 0) }
            hosts.report(try hosts.admit(origin, at: 0), error, at: 0)
            for _ in 1..<rules.failures { fail(hosts, at: 0) }

            #expect(hosts.openCount == 0)
        }
    }

    @Test("A slow probe blocks the origin's other requests no longer than the first pause")
    func slowProbe() throws {
        let hosts = hosts()
        for _ in 0..<rules.failures { fail(hosts, at: 0) }
        let slow = try hosts.admit(origin, at: 2)
        #expect(throws: PipelineError.hostUnavailable(retryAfter: 1)) { try hosts.admit(origin, at: 3) }

        let next = try hosts.admit(origin, at: 4)

        #expect(slow.isProbe && next.isProbe)
        hosts.report(next, nil, at: 4)
        #expect(hosts.openCount == 0)
    }

    // MARK: - 429

    @Test(
        "Consecutive 429s block the origin for the client that sent the requests, as long as it demands, and for no other"
    )
    func tooMany() throws {
        let hosts = hosts()
        let (one, other) = (ClientID(v4: 1), ClientID(v4: 2))
        for _ in 0..<rules.failures { refuse(hosts, for: one, seconds: 30, at: 0) }

        #expect(throws: PipelineError.hostBusy(retryAfter: 30)) { try hosts.admit(origin, for: one, at: 0) }
        #expect(throws: PipelineError.hostBusy(retryAfter: 1)) { try hosts.admit(origin, for: one, at: 29) }
        for client in [other, nil] { _ = try hosts.admit(origin, for: client, at: 0) }
        let probe = try hosts.admit(origin, for: one, at: 30)
        #expect(probe.isRetry && !probe.isProbe)
        hosts.report(probe, .status(404, retryAfter: nil), at: 30)
        #expect(try !hosts.admit(origin, for: one, at: 30).isRetry)
        #expect(hosts.openCount == 0)
    }

    @Test(
        "A 429 that demands more than the longest pause gets that, and one answer in between restarts the count"
    )
    func tooManyBounded() throws {
        let hosts = hosts()
        let one = ClientID(v4: 1)
        for _ in 1..<rules.failures { refuse(hosts, for: one, seconds: 86_400, at: 0) }
        hosts.report(try hosts.admit(origin, for: one, at: 0), nil, at: 0)
        for _ in 1..<rules.failures { refuse(hosts, for: one, seconds: 86_400, at: 0) }
        _ = try hosts.admit(origin, for: one, at: 0)

        refuse(hosts, for: one, seconds: 86_400, at: 0)

        #expect(throws: PipelineError.hostBusy(retryAfter: rules.maximum.seconds)) {
            try hosts.admit(origin, for: one, at: 0)
        }
    }

    @Test("A 429 behind a redirect counts against the redirect's target")
    func tooManyBehindRedirect() throws {
        let hosts = hosts()
        let target = SourceURL.Origin(scheme: "http", host: "busy", port: 80)
        for _ in 0..<rules.failures {
            hosts.report(
                try hosts.admit(origin, at: 0), .status(429, retryAfter: 5), lastHop: target, at: 0)
        }

        _ = try hosts.admit(origin, at: 0)
        #expect(throws: PipelineError.hostBusy(retryAfter: 5)) { try hosts.admit(target, at: 0) }
    }

    @Test("Jitter shortens the pause by a fifth at most")
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

    @Test("The number of watched origins is bounded by the setting")
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

    @Test("Changed settings apply to the next failure, and drop origins beyond their number")
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

    private func refuse(
        _ hosts: HostBreakers, for client: ClientID, seconds: Int, at now: Int64,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        do {
            let pass = try hosts.admit(origin, for: client, at: now)
            hosts.report(pass, .status(429, retryAfter: seconds), at: now)
        } catch {
            Issue.record("refused too early: \(error)", sourceLocation: sourceLocation)
        }
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

extension HostBreakers {
    /// Reports what the loader says of a fetch.
    fileprivate func report(
        _ admission: Admission, _ error: LoadError, lastHop: SourceURL.Origin? = nil, at now: Int64
    ) {
        report(admission, PipelineError(error), lastHop: lastHop, at: now)
    }
}
