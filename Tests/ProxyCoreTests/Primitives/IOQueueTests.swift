// SPDX-License-Identifier: Apache-2.0

import Dispatch
import TestSupport
import Testing

@testable import Primitives

@Suite("I/O queue")
struct IOQueueTests {
    private enum Failure: Error {
        case overloaded, refused
    }

    @Test("The queue runs and holds at most its maximum of jobs, and refuses the rest")
    func isBounded() async throws {
        let queue = IOQueue<Failure>(label: "test", maxRunning: 2, maxWaiting: 3, overloaded: .overloaded)
        let gate = DispatchSemaphore(value: 0)
        let running = Observed(0)
        let work: @Sendable () throws(Failure) -> Int = {
            running.update { $0 += 1 }
            gate.wait()
            return 1
        }
        async let first = queue.run(work)
        async let second = queue.run(work)
        await running.wait { $0 == 2 }

        let refused = Observed(0)
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    do {
                        return try await queue.run(work) == 1
                    } catch {
                        // The last of five finds two running and three waiting: only now may the others
                        // continue.
                        let isLast = refused.update { count in
                            count += 1
                            return count == 2
                        }
                        if isLast { for _ in 0..<5 { gate.signal() } }
                        return false
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }

        #expect(outcomes.count { $0 } == 3)
        #expect(try await first + second == 2 && running.value == 5)
    }

    @Test("An error of the work is thrown to the caller")
    func throwsOn() async {
        let queue = IOQueue<Failure>(label: "test", maxRunning: 1, maxWaiting: 1, overloaded: .overloaded)

        await #expect(throws: Failure.refused) {
            try await queue.run { () throws(Failure) -> Int in throw .refused }
        }
    }

    @Test("Every waiting job runs, in order")
    func doesEverything() async throws {
        let queue = IOQueue<Failure>(label: "test", maxRunning: 3, maxWaiting: 1_000, overloaded: .overloaded)

        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<500 {
                group.addTask { try await queue.run { () throws(Failure) in number } }
            }
            return try await group.reduce(0, +)
        }

        #expect(sum == 124_750)
    }

    @Test("A client that fills the queue leaves a thread and a place for the next one")
    func isFair() async throws {
        let queue = IOQueue<Failure>(label: "test", maxRunning: 2, maxWaiting: 4, overloaded: .overloaded)
        let (greedy, other) = (ClientID(v4: 1), ClientID(v4: 2))
        let gate = DispatchSemaphore(value: 0)
        let refused = Observed(0)

        let outcomes = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    do {
                        try await queue.run(for: greedy) { () throws(Failure) in gate.wait() }
                        return true
                    } catch {
                        refused.update { $0 += 1 }
                        return false
                    }
                }
            }
            // One runs, four wait.
            await refused.wait { $0 == 3 }
            for _ in 0..<3 {
                try await queue.run(for: other) { () throws(Failure) in }
            }
            for _ in 0..<5 { gate.signal() }
            return try await group.reduce(into: []) { $0.append($1) }
        }

        #expect(outcomes.count { $0 } == 5)
    }
}
