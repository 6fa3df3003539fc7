// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ProxyCore

@Suite("The queue of fetches")
struct FetchQueueTests {
    private let now = ContinuousClock.now

    @Test("lets those for another origin pass the one that waits for its own")
    func passes() throws {
        var queue = try queue(running: 3, perOrigin: 1, waiting: 10)
        let a = try origin("a"), b = try origin("b")

        for (id, origin) in [(1, a), (2, a), (3, b)] {
            #expect(queue.enqueue(UInt64(id), for: origin, until: now) == true)
        }

        #expect(queue.startNext() == 1)
        #expect(queue.startNext() == 3)
        #expect(queue.startNext() == nil)
        queue.release(a)
        #expect(queue.startNext() == 2)
        #expect(queue.running == 2)
    }

    @Test("refuses one that would have to wait when it is full, and none that can run")
    func full() throws {
        var queue = try queue(running: 2, perOrigin: 1, waiting: 0)
        let a = try origin("a"), b = try origin("b")

        #expect(queue.enqueue(1, for: a, until: now) == true)
        #expect(queue.startNext() == 1)
        #expect(queue.enqueue(2, for: a, until: now) == false)
        #expect(queue.enqueue(3, for: b, until: now) == true)
    }

    @Test("puts one that had a slot before all others, full or not")
    func requeues() throws {
        var queue = try queue(running: 1, perOrigin: 1, waiting: 1)
        let a = try origin("a")
        _ = queue.enqueue(1, for: a, until: now)
        _ = queue.startNext()
        _ = queue.enqueue(2, for: a, until: now)

        queue.release(a)
        queue.requeue(1, for: a, until: now)

        #expect(queue.waiting == 2)
        #expect(queue.startNext() == 1)
    }

    @Test("gives up those whose time is over, and tells when the next one's is")
    func expires() throws {
        var queue = try queue(running: 1, perOrigin: 1, waiting: 9)
        let a = try origin("a")
        for (id, seconds) in [(1, 3), (2, 1), (3, 2)] {
            _ = queue.enqueue(UInt64(id), for: a, until: now + .seconds(seconds))
        }

        #expect(queue.nextDeadline == now + .seconds(1))
        #expect(queue.expire(at: now + .seconds(2)) == [2, 3])
        #expect(queue.waiting == 1)
        #expect(queue.remove(1) == true)
        #expect(queue.remove(1) == false)
        #expect(queue.nextDeadline == nil)
    }

    private func origin(_ name: String) throws -> SourceURL.Origin {
        try SourceURL(parsing: "http://\(name).example/").origin
    }

    private func queue(running: Int, perOrigin: Int, waiting: Int) throws -> FetchQueue {
        var configuration = FetchConfiguration()
        configuration.maxConcurrent = running
        configuration.maxPerHost = perOrigin
        configuration.queue = waiting
        return FetchQueue(configuration: configuration)
    }
}
