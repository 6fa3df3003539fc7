// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Primitives

@Suite("Turns of clients")
struct ClientTurnsTests {
    private static let first = ClientID(v4: 1), second = ClientID(v4: 2), third = ClientID(v4: 3)

    private func turns(maxPerClient: Int = 3, maxWaiting: Int = 8) -> ClientTurns<String> {
        ClientTurns(maxPerClient: maxPerClient, maxWaiting: maxWaiting)
    }

    private func expect(_ refused: String?, of job: String?, _ location: SourceLocation = #_sourceLocation) {
        #expect(job == refused, sourceLocation: location)
    }

    private func taken(_ turns: inout ClientTurns<String>) -> [String] {
        var jobs: [String] = []
        while let (job, _) = turns.takeNext() { jobs.append(job) }
        return jobs
    }

    @Test("The client with the fewest running jobs is next, of several the one that was served longest ago")
    func fewestFirst() {
        var turns = turns()
        for job in ["a1", "a2", "a3"] { expect(nil, of: turns.append(job, for: Self.first)) }
        for job in ["b1", "b2"] { expect(nil, of: turns.append(job, for: Self.second)) }
        expect(nil, of: turns.append("c1", for: Self.third))

        let all = taken(&turns)
        #expect(all == ["a1", "b1", "c1", "a2", "b2", "a3"])
    }

    @Test("A client runs no more than its share, which leaves a place for the next client")
    func keepsAShare() {
        var turns = turns(maxPerClient: 2)
        let started = (0..<3).map { _ in turns.starts(Self.first) }
        #expect(started == [true, true, false])
        expect(nil, of: turns.append("a", for: Self.first))
        let none = turns.takeNext()
        #expect(none?.0 == nil)

        let other = turns.starts(Self.second)
        #expect(other)
        turns.ended(Self.first)
        let rest = taken(&turns)
        #expect(rest == ["a"])
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
        for job in ["a1", "a2", "a3"] { expect(nil, of: turns.append(job, for: Self.first)) }

        expect("a3", of: turns.append("b1", for: Self.second))
        // Of equally long queues the newcomer's has none.
        expect("b2", of: turns.append("b2", for: Self.second))
        expect("a2", of: turns.append("c1", for: Self.third))
        let all = taken(&turns)
        #expect(all == ["a1", "b1", "c1"])
    }

    @Test("Where none may wait, a job has no place")
    func noPlace() {
        var turns = turns(maxWaiting: 0)
        expect("a", of: turns.append("a", for: nil))
        let none = turns.takeNext()
        #expect(none?.0 == nil)
    }
}
