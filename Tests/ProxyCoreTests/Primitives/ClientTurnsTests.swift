// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Primitives

@Suite("Turns of clients")
struct ClientTurnsTests {
    private static let first = ClientID(v4: 1), second = ClientID(v4: 2), third = ClientID(v4: 3)

    private func turns(maxPerClient: Int = 3, maxWaiting: Int = 8) -> ClientTurns<String> {
        ClientTurns(maxPerClient: maxPerClient, maxWaiting: maxWaiting)
    }

    private func taken(_ turns: inout ClientTurns<String>) -> [String] {
        var jobs: [String] = []
        while let (job, _) = turns.takeNext() { jobs.append(job) }
        return jobs
    }

    @Test("The client with the fewest running jobs is next, of several the one that was served longest ago")
    func fewestFirst() {
        var turns = turns()
        for job in ["a1", "a2", "a3"] { #expect(turns.append(job, for: Self.first) == nil) }
        for job in ["b1", "b2"] { #expect(turns.append(job, for: Self.second) == nil) }
        #expect(turns.append("c1", for: Self.third) == nil)

        #expect(taken(&turns) == ["a1", "b1", "c1", "a2", "b2", "a3"])
    }

    @Test("A client runs no more than its share, which leaves a place for the next client")
    func keepsAShare() {
        var turns = turns(maxPerClient: 2)
        let started = (0..<3).map { _ in turns.starts(Self.first) }
        #expect(started == [true, true, false])
        #expect(turns.append("a", for: Self.first) == nil)
        #expect(turns.takeNext() == nil)

        #expect(turns.starts(Self.second))
        turns.ended(Self.first)
        #expect(taken(&turns) == ["a"])
    }

    @Test("The share does not apply to the daemon itself")
    func daemonHasNoShare() {
        var turns = turns(maxPerClient: 1)
        let started = (0..<5).map { _ in turns.starts(nil) }
        #expect(started.allSatisfy { $0 })
    }

    @Test("Where too much waits, the newest job of the client with the most waiting jobs has no place")
    func displacesTheLongest() {
        var turns = turns(maxWaiting: 3)
        for job in ["a1", "a2", "a3"] { #expect(turns.append(job, for: Self.first) == nil) }

        #expect(turns.append("b1", for: Self.second) == "a3")
        // Of equally long queues the newcomer's has none.
        #expect(turns.append("b2", for: Self.second) == "b2")
        #expect(turns.append("c1", for: Self.third) == "a2")
        #expect(taken(&turns) == ["a1", "b1", "c1"])
    }

    @Test("Where none may wait, a job has no place")
    func noPlace() {
        var turns = turns(maxWaiting: 0)
        #expect(turns.append("a", for: nil) == "a")
        #expect(turns.takeNext() == nil)
    }
}
