// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Loading
@testable import Primitives
@testable import URLs

@Suite("The queue of fetches, of those that several clients wait for")
struct SharedFetchTests {
    private let now = ContinuousClock.now

    @Test("counts a fetch for the waiting client that gets a slot first")
    func joins() throws {
        var queue = queue(running: 9, perOrigin: 3, waiting: 9)
        for id in 1...3 { _ = queue.enqueue(try ticket(id, "a", for: [1])) }
        #expect(queue.startAll() == [1, 2])

        queue.join(3, by: ClientID(v4: 2), until: .now)

        #expect(queue.startAll() == [3], "the second client has slots left")
        queue.release(1)
        _ = queue.enqueue(try ticket(4, "a", for: [1]))
        #expect(
            queue.startAll() == [4],
            "the first client has a slot for it, since the third counts for the second")
    }

    @Test("serves a fetch with the turns of its own client, whatever a client that joins it has in use")
    func keepsTurns() throws {
        var queue = queue(running: 4, perOrigin: 2, waiting: 20)
        for id in 1...3 { _ = queue.enqueue(try ticket(id, "good", for: [1])) }
        #expect(queue.startAll() == [1])

        for id in 2...3 { queue.join(UInt64(id), by: ClientID(v4: 2), until: .now) }
        #expect(queue.startAll() == [2], "with the slot of the second client")
        for id in 11...14 { _ = queue.enqueue(try ticket(id, "slow\(id)", for: [2])) }
        #expect(queue.startAll() == [11, 12], "all slots of the second client")

        queue.release(1)
        #expect(queue.startNext() == 3)
    }

    @Test("starts a fetch that several clients wait for once")
    func once() throws {
        var queue = queue(running: 9, perOrigin: 9, waiting: 9)
        _ = queue.enqueue(try ticket(1, "a", for: [1]))
        queue.join(1, by: ClientID(v4: 2), until: .now)
        queue.join(1, by: ClientID(v4: 2), until: .now)
        queue.raise(1, to: .high)

        #expect(queue.waiting == 1)
        #expect(queue.startAll() == [1])
        #expect(queue.waiting == 0 && queue.running == 1)
        _ = queue.enqueue(try ticket(2, "a", for: [1, 2]))
        #expect(queue.remove(2) == true)
        #expect(queue.startAll() == [])
    }

    @Test("serves a fetch with the slots of any client that waits for it")
    func returned() throws {
        var queue = queue(running: 9, perOrigin: 2, waiting: 9)
        _ = queue.enqueue(try ticket(1, "a", for: [1]))
        #expect(queue.startAll() == [1])

        _ = queue.enqueue(try ticket(2, "a", for: [1]))
        #expect(queue.startAll() == [])
        queue.join(2, by: ClientID(v4: 2), until: .now)

        #expect(queue.startAll() == [2])
    }

    @Test("waits as long for a client that joins as for one that began")
    func deadlines() throws {
        var queue = queue(running: 1, perOrigin: 1, waiting: 9)
        for id in 1...2 { _ = queue.enqueue(try ticket(id, "a", for: [1])) }
        #expect(queue.startAll() == [1])
        let deadline = try #require(queue.waitingTickets[2]?.deadline)

        queue.join(2, by: ClientID(v4: 2), until: deadline + .seconds(20))
        queue.join(2, by: ClientID(v4: 3), until: deadline + .seconds(10))

        #expect(queue.expire(at: deadline + .seconds(19)) == [])
        #expect(queue.expire(at: deadline + .seconds(20)) == [2])
    }

    @Test("when full, displaces no fetch because a client with many waiting fetches has joined it")
    func displaces() throws {
        var queue = queue(running: 1, perOrigin: 1, waiting: 6)
        _ = queue.enqueue(try ticket(1, "x", for: [9]))
        #expect(queue.startAll() == [1])
        for id in 2...3 { _ = queue.enqueue(try ticket(id, "good", for: [1])) }
        for id in 11...14 { _ = queue.enqueue(try ticket(id, "slow\(id)", for: [2])) }
        for id in 2...3 { queue.join(UInt64(id), by: ClientID(v4: 2), until: .now) }

        for id in 21...22 {
            guard case .displacing(let other) = queue.enqueue(try ticket(id, "b", for: [3])) else {
                Issue.record("refused")
                continue
            }
            #expect(other > 10)
        }

        #expect(queue.waitingTickets[2] != nil && queue.waitingTickets[3] != nil)
    }

    @Test("when full, displaces the same fetches of a client, whether or not another one has joined them")
    func displacesOwn() throws {
        for isJoined in [false, true] {
            var queue = queue(running: 1, perOrigin: 1, waiting: 4)
            _ = queue.enqueue(try ticket(1, "x", for: [9]))
            #expect(queue.startAll() == [1])
            for id in 2...5 { _ = queue.enqueue(try ticket(id, "good", for: [1])) }
            for id in 2...5 where isJoined { queue.join(UInt64(id), by: ClientID(v4: 2), until: .now) }

            #expect(try queue.enqueue(ticket(6, "other", for: [1])) == .displacing(5))
            #expect(queue.waiting == 4)
        }
    }

    private func ticket(_ id: Int, _ host: String, for clients: [Int]) throws -> FetchTicket {
        FetchTicket(
            id: UInt64(id), place: .init(origin: try SourceURL(parsing: "http://\(host).example/").origin),
            clients: clients.map { ClientID(v4: UInt32($0)) }, priority: .normal, deadline: now + .seconds(9))
    }

    private func queue(running: Int, perOrigin: Int, waiting: Int) -> FetchQueue {
        var configuration = FetchConfiguration()
        configuration.maxConcurrent = running
        configuration.maxPerHost = perOrigin
        configuration.queue = waiting
        return FetchQueue(configuration: configuration)
    }
}
