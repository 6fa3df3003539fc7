// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Primitives
@testable import Rendering

@Suite("The queue for workers")
struct JobQueueTests {
    /// A queue whose changes can be expected, and a clock that only the test advances.
    private final class Line {
        private var queue = JobQueue<String>()
        private var now = ContinuousClock.now
        private var ids: [String: Int] = [:]
        private var lastID = 0

        var count: Int { queue.count }

        func add(_ jobs: String..., of client: Int?, _ priority: FetchPriority = .normal) {
            for job in jobs { add(job, for: interest(client, priority)) }
        }

        func add(_ job: String, for interest: Waiters) {
            lastID += 1
            ids[job] = lastID
            queue.append(job, id: lastID, for: interest)
        }

        func interest(_ client: Int?, _ priority: FetchPriority = .normal) -> Waiters {
            Waiters(client.map { ClientID(v4: UInt32($0)) }, priority)
        }

        func next(admitsExpensive: Bool = true) -> String? {
            queue.takeNext(at: now, admitsExpensive: admitsExpensive)
        }

        func putBack(_ job: String, for interest: Waiters, isExpensive: Bool) {
            queue.putBack(job, id: ids[job] ?? 0, for: interest, isExpensive: isExpensive, at: now)
        }

        func end(_ job: String, after time: Duration) {
            now += time
            queue.end(ids[job] ?? 0, at: now)
        }

        /// Lets one worker do all that waits, each job in the same time.
        func drain() -> [String] {
            var done: [String] = []
            while let job = next() {
                end(job, after: .seconds(1))
                done.append(job)
            }
            return done
        }

        func displace(for interest: Waiters) -> String? { queue.displace(for: interest) }
        func remove(_ job: String) -> String? { queue.remove(ids[job] ?? 0) }
    }

    private let line = Line()

    @Test("Clients take turns, and the jobs of one run in their order")
    func turns() {
        line.add("a1", "a2", "a3", "a4", of: 1)
        line.add("b1", "b2", of: 2)
        line.add("c1", of: nil)

        #expect(line.drain() == ["a1", "b1", "c1", "a2", "b2", "a3", "a4"])
        #expect(line.count == 0)
    }

    @Test("A client with long jobs gets no more worker time than one with short jobs")
    func time() {
        line.add("a1", "a2", of: 1)
        line.add("b1", "b2", "b3", "b4", of: 2)

        #expect(line.next() == "a1")
        line.end("a1", after: .seconds(4))

        #expect(line.drain() == ["b1", "b2", "b3", "b4", "a2"])
    }

    @Test(
        "A job known to be much work is passed over while such jobs have no turn, and keeps its place"
    )
    func expensive() {
        line.add("a1", "a2", of: 1)
        #expect(line.next() == "a1")
        line.putBack("a1", for: line.interest(1), isExpensive: true)

        #expect(line.next(admitsExpensive: false) == "a2")
        #expect(line.next(admitsExpensive: false) == nil)
        #expect(line.count == 1)
        line.end("a2", after: .seconds(1))

        #expect(line.next() == "a1")
    }

    @Test("A client that requests one long job after the other is charged for them")
    func returning() {
        line.add("a1", of: 1)
        line.add("b1", "b2", "b3", of: 2)
        #expect(line.next() == "a1")
        line.end("a1", after: .seconds(5))
        for number in 1...2 {
            line.add("a\(number + 1)", of: 1)
            #expect(line.next() == "b\(number)")
            line.end("b\(number)", after: .milliseconds(20))
        }

        #expect(line.next() == "b3")
        #expect(line.next() == "a2")
    }

    @Test("The next worker serves a client that has none, although it has used more")
    func nextWorker() {
        line.add("b1", of: 2)
        #expect(line.next() == "b1")
        line.add("b2", "b3", of: 2)
        line.end("b1", after: .seconds(60))
        line.add("a1", "a2", "a3", of: 1)
        #expect(line.next() == "a1")
        #expect(line.next() == "b2", "two workers: one each")

        line.end("b2", after: .seconds(10))

        #expect(line.next() == "b3")
    }

    @Test(
        "Idle time is not saved up: a client that comes after a long time does not precede all others for as long"
    )
    func idle() {
        line.add("b0", of: 2)
        line.add("a0", "a1", "a2", "a3", of: 1)
        #expect(line.next() == "b0")
        line.end("b0", after: .milliseconds(1))
        for job in ["a0", "a1"] {
            #expect(line.next() == job)
            line.end(job, after: .seconds(100))
        }

        line.add("b1", "b2", "b3", of: 2)

        #expect(line.next() == "b1", "it has used less than the one whose last job has just ended")
        line.end("b1", after: .seconds(100))
        #expect(line.drain().prefix(2) == ["a2", "b2"])
    }

    @Test(
        "A job of low priority waits for all others, and one of high priority for none, of whichever client")
    func priorities() {
        line.add("low", of: 1, .low)
        line.add("a", "b", of: 2)
        line.add("high", of: 2, .high)

        #expect(line.drain() == ["high", "a", "b", "low"])
    }

    @Test(
        "In a full queue the newest job of the client with the most is displaced by another client's, but not by its own"
    )
    func displacement() {
        line.add("a1", "a2", "a3", of: 1)
        line.add("b1", of: 2)

        #expect(line.displace(for: line.interest(1)) == nil)
        #expect(line.displace(for: line.interest(3)) == "a3")
        line.add("c1", of: 3)
        #expect(line.displace(for: line.interest(4)) == "a2")
        line.add("d1", of: 4)
        #expect(line.displace(for: line.interest(5)) == nil, "each has one")
        #expect(line.drain() == ["a1", "b1", "c1", "d1"])
    }

    @Test("A job of low priority is displaced by any other, and displaces none")
    func lowGivesWay() {
        line.add("low", of: 1, .low)
        line.add("a1", "a2", of: 2)

        #expect(line.displace(for: line.interest(3, .low)) == nil)
        #expect(line.displace(for: line.interest(2)) == "low")
        #expect(line.count == 2)
    }

    @Test(
        "A job that another client waits for, too, counts as that client's: it takes its turn and is not displaced"
    )
    func shared() {
        let both = line.interest(1, .low)
        line.add("a1", "a2", "a3", of: 1)
        line.add("shared", for: both)
        both.join(ClientID(v4: 2), .normal, at: .now)

        #expect(line.displace(for: line.interest(3)) == "a3")
        #expect(line.next() == "a1")
        line.end("a1", after: .seconds(1))
        #expect(line.next() == "shared")
    }

    @Test("Clients that wait for one another's jobs share the charge, and gain no turn by it")
    func accomplices() {
        for number in 0..<4 {
            let both = line.interest(1)
            both.join(ClientID(v4: 2), .normal, at: .now)
            line.add("a\(number)", for: both)
        }
        line.add("c1", "c2", of: 3)

        #expect(line.next() == "a0")
        #expect(line.next() == "c1", "two workers: neither of the two gets the second")
        line.end("c1", after: .seconds(1))
        #expect(line.next() == "c2")
        line.end("c2", after: .seconds(1))
        line.end("a0", after: .zero)
        #expect(line.drain() == ["a1", "a2", "a3"])
        // None of the two counts as having a worker any more.
        line.add("c3", of: 3)
        #expect(line.next() == "c3")
        line.end("c3", after: .seconds(9))
        line.add("c4", of: 3)
        line.add("a4", of: 1)
        line.add("b4", of: 2)
        #expect(line.drain() == ["a4", "b4", "c4"])
    }

    @Test("A job that is cancelled is removed, and no other")
    func forgetting() {
        line.add("a1", "a2", of: 1)
        #expect(line.remove("a1") == "a1")
        #expect(line.count == 1)
        #expect(line.remove("a2") == "a2")
        #expect(line.count == 0)
        #expect(line.remove("a2") == nil && line.next() == nil)
    }
}
