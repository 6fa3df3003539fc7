// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Loading
@testable import Origins
@testable import Primitives
@testable import URLs

@Suite("The loader's schedule")
struct SchedulingTests {
    @Test("serves urgent fetches first, also one that becomes urgent while it waits")
    func priorities() async throws {
        let fixture = try LoaderFixture { $0.maxConcurrent = 1 }
        let gate = OriginGate()
        fixture.origin.route("/first", OriginAnswer.body([1]).held(by: gate))
        for path in ["/low", "/normal", "/raised", "/high"] { fixture.origin.route(path, .body([1])) }
        let raised = Waiters(nil, .low)
        let first = Task { try await fixture.load("/first") }
        await fixture.origin.waitForRequests("/first")

        var waiting: [Task<LoadSummary, any Error>] = []
        for (path, urgency) in [
            ("/low", Waiters(nil, .low)), ("/raised", raised), ("/normal", Waiters()),
            ("/high", Waiters(nil, .high)),
        ] {
            waiting.append(Task { try await fixture.load(path, urgency: urgency) })
            await fixture.waitUntilQueued(waiting.count)
        }
        raised.raise(to: .high)
        #expect(await fixture.loader.ping())
        gate.open()
        _ = try await first.value
        for task in waiting { _ = try await task.value }

        #expect(fixture.origin.log.requests.map(\.path) == ["/first", "/high", "/raised", "/normal", "/low"])
    }

    @Test("finishes 999 hosts while the thousandth does not answer, however many fetches wait for it")
    func oneDeadHost() async throws {
        let fixture = try LoaderFixture {
            $0.maxConcurrent = 16
            $0.maxPerHost = 6
            $0.queue = 2_000
        }
        let dead = OriginGate()
        fixture.origin.route("/alive", .body([1]))
        fixture.origin.route("/dead", OriginAnswer.body([2]).held(by: dead))
        let port = fixture.origin.port
        for host in 0..<1_000 { TestNames.set("s\(host).test", to: ["127.0.0.1"]) }
        let stuck = (0..<200).map { _ in
            Task { try await fixture.load(absolute: "http://s0.test:\(port)/dead") }
        }
        await fixture.origin.waitForRequests("/dead", count: 6)

        try await withThrowingTaskGroup(of: Void.self) { group in
            for host in 1..<1_000 {
                group.addTask { try await fixture.load(absolute: "http://s\(host).test:\(port)/alive") }
            }
            try await group.waitForAll()
        }

        #expect(fixture.origin.count("/alive") == 999)
        #expect(fixture.origin.count("/dead") == 6, "no more than maxPerHost")
        dead.open()
        for task in stuck { _ = try await task.value }
    }

    @Test(
        "takes turns among a thousand hosts: each is fetched from once before any gets its third fetch"
    )
    func thousandHosts() async throws {
        let fixture = try LoaderFixture {
            $0.maxConcurrent = 1
            $0.queue = 2_000
        }
        let gate = OriginGate()
        let port = fixture.origin.port
        fixture.origin.route("/greedy", OriginAnswer.body([1]).held(by: gate))
        fixture.origin.route("/other", .body([1]))
        for host in 0..<1_000 { TestNames.set("t\(host).test", to: ["127.0.0.1"]) }
        let greedy = (0..<50).map { _ in
            Task { try await fixture.load(absolute: "http://t0.test:\(port)/greedy") }
        }
        await fixture.waitUntilQueued(49)
        let others = (1..<1_000).map { host in
            Task { try await fixture.load(absolute: "http://t\(host).test:\(port)/other") }
        }
        await fixture.waitUntilQueued(49 + 999)

        gate.open()
        for task in greedy + others { _ = try await task.value }

        let paths = fixture.origin.log.requests.map(\.path)
        let third = try #require(
            paths.enumerated().filter { $0.element == "/greedy" }.dropFirst(2).first?.offset)
        #expect(paths[..<third].count { $0 == "/other" } == 999)
    }

    @Test("serves other clients of a host while one client's fetches from it do not end, however many")
    func stalledClient() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/stalled", .silence)
        fixture.origin.route("/good", .body([1]))
        let hostile = ClientID(v4: 1)
        let stalled = (0..<7).map { _ in
            Task { try await fixture.load("/stalled", urgency: Waiters(hostile)) }
        }
        await fixture.origin.waitForRequests("/stalled", count: 5)
        await fixture.waitUntilQueued(2)

        for client in 2..<17 {
            try await fixture.load("/good", urgency: Waiters(ClientID(v4: UInt32(client))))
        }

        #expect(fixture.origin.count("/stalled") == 5)
        for task in stalled { task.cancel() }
        for task in stalled { await #expect(throws: LoadError.cancelled) { try await task.value } }
    }

    @Test("bounds the running fetches for the rule of a redirect's target, whatever URLs were requested")
    func redirectedRule() async throws {
        let fixture = try LoaderFixture()
        let gate = OriginGate()
        for number in 1...3 {
            fixture.origin.route("/\(number)", .redirect(to: fixture.origin.url("/bounded")))
        }
        fixture.origin.route("/bounded", OriginAnswer.body([1]).held(by: gate))
        var configuration = OriginRuleConfiguration()
        configuration.match = [fixture.origin.url("/bounded")]
        configuration.maxConcurrent = 1
        let rules = try OriginRules([configuration], secrets: .checking)

        let fetches = (1...3).map { number in
            Task {
                var request = try fixture.request("/\(number)")
                request.rules = rules
                return try await fixture.loader.load(request, into: CollectingReceiver())
            }
        }
        await fixture.origin.waitForRequests("/bounded")
        await fixture.waitUntilQueued(2)

        #expect(fixture.loader.statistics.inflight == 1)
        gate.open()
        for fetch in fetches { _ = try await fetch.value }
        #expect(fixture.origin.count("/bounded") == 3)
    }

    @Test(
        "serves a fetch that waits for its client's slots as soon as a client with free slots joins it"
    )
    func joinedFetch() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/stalled", .silence)
        fixture.origin.route("/popular", .body([1]))
        let hostile = ClientID(v4: 1)
        let stalled = (0..<5).map { _ in
            Task { try await fixture.load("/stalled", urgency: Waiters(hostile)) }
        }
        await fixture.origin.waitForRequests("/stalled", count: 5)
        let (late, early) = (Waiters(hostile), Waiters(hostile))
        early.join(ClientID(v4: 2), .normal)
        let popular = Task { try await fixture.load("/popular", urgency: late) }
        await fixture.waitUntilQueued(1)

        // A client that joins before the loader has received the fetch counts, too.
        try await fixture.load("/popular", urgency: early)
        late.join(ClientID(v4: 2), .normal)

        _ = try await popular.value
        #expect(fixture.origin.count("/popular") == 2)
        for task in stalled { task.cancel() }
    }

    @Test("serves a client's waiting fetch when it has a slot, although a client without one has joined it")
    func hijackedFetch() async throws {
        let fixture = try LoaderFixture {
            // One slot of each host for a client, and two in all.
            ($0.maxConcurrent, $0.maxPerHost, $0.clientShare) = (6, 2, 0.3)
        }
        let gate = OriginGate()
        fixture.origin.route("/stalled", .silence)
        fixture.origin.route("/held", OriginAnswer.body([1]).held(by: gate))
        fixture.origin.route("/waiting", .body([1]))
        let (own, hostile, other) = (ClientID(v4: 1), ClientID(v4: 2), ClientID(v4: 3))
        let held = Task { try await fixture.load("/held", urgency: Waiters(own)) }
        var stalled = [Task { try await fixture.load("/stalled", urgency: Waiters(other)) }]
        await fixture.origin.waitForRequests("/held")
        await fixture.origin.waitForRequests("/stalled")
        let urgency = Waiters(own)
        let waiting = Task { try await fixture.load("/waiting", urgency: urgency) }
        await fixture.waitUntilQueued(1)

        urgency.join(hostile, .normal)
        for name in ["first.test", "second.test"] {
            TestNames.set(name, to: ["127.0.0.1"])
            var request = try fixture.request("/stalled")
            request.waiters = Waiters(hostile)
            request.url = try SourceURL(parsing: "http://\(name):\(fixture.origin.port)/stalled")
            stalled.append(
                Task { [request] in try await fixture.loader.load(request, into: CollectingReceiver()) })
        }
        await fixture.origin.waitForRequests("/stalled", count: 3)
        gate.open()

        _ = try await held.value
        _ = try await waiting.value
        for task in stalled { task.cancel() }
    }

    @Test("drops a waiting fetch from a full queue for a host that has none")
    func fullQueue() async throws {
        let fixture = try LoaderFixture {
            $0.maxConcurrent = 1
            $0.queue = 3
        }
        let gate = OriginGate()
        fixture.origin.route("/a", OriginAnswer.body([1]).held(by: gate))
        TestNames.set("second.test", to: ["127.0.0.1"])
        let first = Task { try await fixture.load("/a") }
        await fixture.origin.waitForRequests("/a")
        var waiting: [Task<LoadSummary, any Error>] = []
        for count in 1...3 {
            waiting.append(Task { try await fixture.load("/a") })
            await fixture.waitUntilQueued(count)
        }

        let port = fixture.origin.port
        let second = Task { try await fixture.load(absolute: "http://second.test:\(port)/a") }
        let last = waiting.removeLast()

        await #expect(throws: LoadError.queueFull) { try await last.value }
        gate.open()
        for task in [first, second] + waiting { _ = try await task.value }
    }

    @Test("retries after a pause, and only failures to connect")
    func retries() async throws {
        let fixture = try LoaderFixture(by: ManualTime()) {
            $0.retries = 2
            $0.retryDelay = .seconds(8)
        }
        // No server listens there for the first two look-ups; each connection resolves again, because the
        // last one failed.
        let port = fixture.origin.port
        fixture.origin.route("/broken", OriginAnswer([.reset]))

        let load = Task { try await fixture.load(absolute: "http://closed.test:\(port)/") }
        for (retry, pause) in [(1, 8), (2, 16)] {
            await fixture.waitUntilPausing(before: retry)
            await fixture.pass(.seconds(pause) / 2 - .milliseconds(1))
            // The first ping is answered before the deadlines are enforced.
            #expect(await fixture.loader.ping())
            #expect(fixture.loader.statistics.queued == 1)
            await fixture.pass(.seconds(pause) / 2 + .milliseconds(1))
        }
        await expectFailure(.unreachable) { try await load.value }
        #expect(fixture.loader.statistics.retries == 2)
        await expectFailure(.unreachable) { try await fixture.load("/broken") }
        #expect(fixture.loader.statistics.retries == 2)
        #expect(fixture.loader.statistics.queued == 0)
    }

    @Test("removes a fetch that is cancelled while it waits for its retry")
    func cancelledRetry() async throws {
        let fixture = try LoaderFixture {
            $0.retries = 1
            $0.retryDelay = .seconds(3_600)
        }
        let task = Task { try await fixture.load(absolute: "http://closed.test/") }
        await fixture.waitUntilQueued(1)

        task.cancel()

        await #expect(throws: LoadError.cancelled) { try await task.value }
        #expect(fixture.loader.statistics.queued == 0)
    }

    @Test("reads Priority (RFC 9218 §4)")
    func field() {
        for (value, priority) in [
            ("u=0", FetchPriority.high), ("u=2, i", .high), ("i, u=1", .high), ("u=3", .normal),
            ("i", .normal), ("", .normal),
            ("u=4", .normal), ("u=5,i", .low), ("u=7;x", .low), ("u=8", .normal), ("u=12", .normal),
            ("u=-1", .normal),
            ("u=5, u=1", .high),
        ] {
            #expect(FetchPriority(field: value) == priority, "\(value)")
        }
    }

    @Test("pauses before retries, twice as long each time, with a random part taken off")
    func delays() {
        let now = ContinuousClock.now
        var retries = DelayedRetries(delay: .milliseconds(100))

        retries.add(1, retries: 1, at: now, random: 0)
        retries.add(2, retries: 3, at: now, random: 0.5)

        #expect(retries.nextDue == now + .milliseconds(100))
        #expect(retries.takeDue(at: now + .milliseconds(99)) == [])
        #expect(retries.takeDue(at: now + .milliseconds(100)) == [1])
        #expect(retries.takeDue(at: now + .milliseconds(300)) == [2])
        #expect(retries.nextDue == nil)
    }
}

extension LoaderFixture {
    /// Fetches a path of the origin with the priority of `urgency`.
    @discardableResult
    fileprivate func load(_ path: String, urgency: Waiters) async throws -> LoadSummary {
        var request = try request(path)
        request.waiters = urgency
        return try await loader.load(request, into: CollectingReceiver())
    }

    /// Waits until `count` fetches wait for a slot.
    fileprivate func waitUntilQueued(_ count: Int) async {
        while loader.statistics.queued < count { _ = await loader.ping() }
    }

    /// Waits until the only fetch pauses before a retry.
    fileprivate func waitUntilPausing(before retry: Int) async {
        while loader.statistics.retries < retry { _ = await loader.ping() }
        await waitUntilQueued(1)
    }
}
