// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Loading
@testable import Origins
@testable import Primitives
@testable import URLs

@Suite("The queue of fetches")
struct FetchQueueTests {
    private let now = ContinuousClock.now

    @Test("starts fetches for another origin before one that waits for its own")
    func passes() throws {
        var queue = queue(running: 3, perOrigin: 1, waiting: 10)

        for (id, host) in [(1, "a"), (2, "a"), (3, "b")] {
            #expect(try queue.enqueue(ticket(id, host)) == .admitted)
        }

        #expect(queue.startAll() == [1, 3])
        queue.release(1)
        #expect(queue.startNext() == 2)
        #expect(queue.running == 2)
    }

    @Test("when full, refuses a fetch that would have to wait, and none that can run")
    func full() throws {
        var queue = queue(running: 2, perOrigin: 1, waiting: 0)

        #expect(try queue.enqueue(ticket(1, "a")) == .admitted)
        #expect(queue.startNext() == 1)
        #expect(try queue.enqueue(ticket(2, "a")) == .full)
        #expect(try queue.enqueue(ticket(3, "b")) == .admitted)
    }

    @Test("uses changed bounds at once, and keeps fetches that exceed them")
    func adopts() throws {
        var queue = queue(running: 2, perOrigin: 2, waiting: 1)
        for id in 1...3 {
            #expect(try queue.enqueue(ticket(id, "a")) == .admitted)
            _ = queue.startNext()
        }
        var configuration = FetchConfiguration()
        configuration.maxConcurrent = 1
        configuration.queue = 0
        configuration.order = .lifo

        queue.adopt(configuration)

        #expect(queue.running == 2 && queue.waiting == 1)
        queue.release(1)
        #expect(queue.startNext() == nil)
        #expect(try queue.enqueue(ticket(4, "b")) == .full)
        queue.release(2)
        #expect(queue.startNext() == 3)
    }

    @Test("has a fetch that was redirected wait like a new one, which counts for the bound")
    func redirected() throws {
        var queue = queue(running: 1, perOrigin: 1, waiting: 1)
        _ = queue.enqueue(try ticket(1, "a"))
        _ = queue.startNext()
        _ = queue.enqueue(try ticket(2, "a"))

        queue.release(1)
        #expect(queue.startNext() == 2)
        // Back from a redirect: behind the one that waited.
        #expect(try queue.enqueue(ticket(1, "a")) == .admitted)
        #expect(try queue.enqueue(ticket(3, "a")) == .full)
        queue.release(2)
        #expect(queue.startNext() == 1)
    }

    @Test("expires fetches after their deadline, and returns the next deadline")
    func expires() throws {
        var queue = queue(running: 1, perOrigin: 1, waiting: 9)
        for (id, seconds) in [(1, 3), (2, 1), (3, 2)] {
            _ = queue.enqueue(try ticket(id, "a", until: now + .seconds(seconds)))
        }

        #expect(queue.nextDeadline == now + .seconds(1))
        #expect(queue.expire(at: now) == [])
        #expect(queue.expire(at: now + .seconds(2)) == [2, 3])
        #expect(queue.nextDeadline == now + .seconds(3))
        #expect(queue.waiting == 1)
        #expect(queue.remove(1) == true)
        #expect(queue.remove(1) == false)
        #expect(queue.nextDeadline == nil)
    }

    @Test("serves origins in turns, however long one origin's queue is")
    func turns() throws {
        var queue = queue(running: 1, perOrigin: 1, waiting: 100)
        for id in 1...5 { _ = queue.enqueue(try ticket(id, "greedy")) }
        for (id, host) in [(11, "b"), (12, "c"), (13, "b")] { _ = queue.enqueue(try ticket(id, host)) }

        #expect(try queue.startOneByOne() == [1, 11, 12, 2, 13, 3, 4, 5])
    }

    @Test("serves an origin's queue from its front, or from its end if the configuration says so")
    func order() throws {
        for (order, expected) in [(FetchConfiguration.Order.fifo, [1, 2, 3]), (.lifo, [3, 2, 1])] {
            var queue = queue(running: 1, perOrigin: 1, waiting: 9, order: order)
            for id in 1...3 { _ = queue.enqueue(try ticket(id, "a")) }

            #expect(try queue.startOneByOne() == expected.map { UInt64($0) })
        }
    }

    @Test("serves the highest priority first, also one that was raised while waiting")
    func priorities() throws {
        var queue = queue(running: 1, perOrigin: 1, waiting: 9)
        for (id, priority) in [(1, FetchPriority.low), (2, .normal), (3, .low), (4, .high), (5, .normal)] {
            _ = queue.enqueue(try ticket(id, "a", priority))
        }

        queue.raise(3, to: .high)
        queue.raise(2, to: .low)
        queue.raise(99, to: .high)

        #expect(try queue.startOneByOne() == [4, 3, 2, 5, 1])
    }

    @Test(
        "when full, makes room for a more urgent fetch, and for an origin with fewer waiting than another")
    func displaces() throws {
        var queue = queue(running: 1, perOrigin: 1, waiting: 3)
        _ = queue.enqueue(try ticket(1, "x"))
        _ = queue.startNext()
        for id in 2...4 { _ = queue.enqueue(try ticket(id, "greedy")) }

        #expect(try queue.enqueue(ticket(5, "greedy")) == .full)
        #expect(try queue.enqueue(ticket(6, "b")) == .displacing(4))
        #expect(try queue.enqueue(ticket(7, "c")) == .displacing(3))
        #expect(try queue.enqueue(ticket(8, "d")) == .full, "every line is as short as it can be")
        #expect(try queue.enqueue(ticket(9, "d", .low)) == .full)
        #expect(try queue.enqueue(ticket(10, "d", .high)) != .full)
        #expect(queue.waiting == 3)
    }

    @Test("bounds the running fetches of one rule, for all its origins together")
    func perRule() throws {
        let rule = try rule(running: 2)
        var queue = queue(running: 9, perOrigin: 9, waiting: 9)
        for (id, host) in [(1, "a"), (2, "b"), (3, "c"), (4, "a")] {
            _ = queue.enqueue(try ticket(id, host, rule: rule))
        }
        _ = queue.enqueue(try ticket(5, "c"))

        #expect(queue.startAll() == [1, 2, 5])
        queue.release(2)
        #expect(queue.startNext() == 4, "the origins take turns")
    }

    @Test("serves a thousand origins once each before any of them twice")
    func thousandOrigins() throws {
        var queue = queue(running: 1, perOrigin: 1, waiting: 5_000)
        for id in 1...2_000 { _ = queue.enqueue(try ticket(id, "greedy")) }
        for id in 1...1_998 { _ = queue.enqueue(try ticket(10_000 + id, "h\(id % 999)")) }

        let served = try queue.startOneByOne(1_000)

        #expect(served.filter { $0 < 10_000 } == [1])
        #expect(Set(served.map { $0 < 10_000 ? 999 : Int($0 - 10_000) % 999 }).count == 1_000)
    }

    // MARK: - Clients

    @Test("reserves a slot of each host, and one of all, that a single client can't use")
    func clientShare() throws {
        var queue = queue(running: 4, perOrigin: 3, waiting: 20)
        for id in 1...4 { _ = queue.enqueue(try ticket(id, "a", for: 1)) }
        #expect(queue.startAll() == [1, 2])
        for id in 5...6 { _ = queue.enqueue(try ticket(id, "b", for: 1)) }
        #expect(queue.startAll() == [5], "three of four")

        _ = queue.enqueue(try ticket(7, "a", for: 2))

        #expect(queue.startAll() == [7])
        queue.release(7)
        #expect(queue.startAll() == [])
        queue.release(1)
        #expect(queue.startAll() == [3])
    }

    @Test("reserves a slot of each rule with its own bound that a single client can't use")
    func ruleShare() throws {
        let rule = try rule(running: 4)
        var queue = queue(running: 99, perOrigin: 9, waiting: 99)
        for id in 1...5 { _ = queue.enqueue(try ticket(id, "h\(id)", rule: rule, for: 1)) }
        #expect(queue.startAll() == [1, 2, 3], "three of four")

        _ = queue.enqueue(try ticket(6, "h6", rule: rule, for: 2))
        #expect(queue.startAll() == [6])

        queue.release(6)
        #expect(queue.startAll() == [])
        queue.release(1)
        #expect(queue.startAll() == [4])
    }

    @Test(
        "gives a client all slots if its share is 1 or there is only one, and the daemon itself always"
    )
    func noShare() throws {
        for (share, perOrigin, client) in [(1.0, 3, 1), (0.1, 1, 1), (0.1, 3, nil)] as [(Double, Int, Int?)] {
            var queue = queue(running: 9, perOrigin: perOrigin, waiting: 9, share: share)
            for id in 1...9 { _ = queue.enqueue(try ticket(id, "a", for: client)) }

            #expect(queue.startAll().count == perOrigin)
        }
    }

    @Test("serves clients in turns, the one with the fewest slots first, however many hosts a client names")
    func clientTurns() throws {
        var queue = queue(running: 2, perOrigin: 2, waiting: 99, share: 1)
        for id in 1...6 { _ = queue.enqueue(try ticket(id, "h\(id)", for: 1)) }
        for id in 11...12 { _ = queue.enqueue(try ticket(id, "a", for: 2)) }
        _ = queue.enqueue(try ticket(21, "a", for: 3))

        #expect(queue.startAll() == [1, 11])
        queue.release(11)
        #expect(queue.startNext() == 21)
        queue.release(21)
        #expect(queue.startNext() == 12)
        queue.release(12)
        #expect(queue.startNext() == 2)
        queue.release(1)
        #expect(queue.startNext() == 3)
    }

    @Test(
        "when full, displaces a fetch of the client with the most waiting, however urgent its fetches are"
    )
    func displacesClients() throws {
        var queue = queue(running: 1, perOrigin: 1, waiting: 4, share: 1)
        _ = queue.enqueue(try ticket(1, "x", for: 9))
        _ = queue.startNext()
        for id in 2...4 { _ = queue.enqueue(try ticket(id, "h\(id)", .high, for: 1)) }
        _ = queue.enqueue(try ticket(5, "b", for: 2))

        #expect(try queue.enqueue(ticket(6, "c", .low, for: 3)) != .full)
        #expect(try queue.enqueue(ticket(7, "d", .high, for: 1)) == .full, "its own are as urgent")
        #expect(queue.waitingTickets[5] != nil && queue.waitingTickets[6] != nil)
        #expect(
            try queue.enqueue(ticket(8, "d", .high, for: 2)) == .displacing(5), "its own, less urgent one")
        #expect(queue.waiting == 4)
    }

    private func ticket(
        _ id: Int, _ host: String, _ priority: FetchPriority = .normal, rule: OriginRule? = nil,
        for client: Int? = nil, until deadline: ContinuousClock.Instant? = nil
    ) throws -> FetchTicket {
        let place = FetchTicket.Place(
            origin: try SourceURL(parsing: "http://\(host).example/").origin, rule: rule)
        return FetchTicket(
            id: UInt64(id), place: place, clients: [client.map { ClientID(v4: UInt32($0)) }],
            priority: priority, deadline: deadline ?? now + .seconds(9))
    }

    private func rule(running: Int) throws -> OriginRule {
        var configuration = OriginRuleConfiguration()
        configuration.match = ["*://*"]
        configuration.maxConcurrent = running
        return try OriginRule(configuration, at: 0, secrets: .checking)
    }

    private func queue(
        running: Int, perOrigin: Int, waiting: Int, order: FetchConfiguration.Order = .fifo,
        share: Double = 0.75
    ) -> FetchQueue {
        var configuration = FetchConfiguration()
        configuration.maxConcurrent = running
        configuration.maxPerHost = perOrigin
        configuration.queue = waiting
        configuration.order = order
        configuration.clientShare = share
        return FetchQueue(configuration: configuration)
    }
}

extension FetchQueue {
    /// Starts as many as may run at once.
    mutating func startAll() -> [UInt64] {
        var started: [UInt64] = []
        while let id = startNext() { started.append(id) }
        return started
    }

    /// Starts one after the other, each when the one before has ended.
    fileprivate mutating func startOneByOne(_ most: Int = .max) throws -> [UInt64] {
        var started: [UInt64] = []
        while started.count < most, let id = startNext() {
            started.append(id)
            release(id)
        }
        return started
    }
}
