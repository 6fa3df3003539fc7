// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import Pipeline

@Suite("The task table")
struct TaskTableTests {
    private typealias Table = TaskTable<String, Void, Int, PipelineError>

    @Test("All callers that join a running task get its one result")
    func collapsing() async throws {
        let table = Table()
        let gate = Gate()
        let runs = Atomic<Int>(0)

        let subscriptions = (0..<500).map { _ in
            table.join("key", progress: ()) { (_, _) async throws(PipelineError) in
                runs.add(1, ordering: .relaxed)
                await gate.passage()
                return 7
            }
        }
        gate.open()
        for subscription in subscriptions {
            let output = try await subscription.output()
            #expect(output == 7)
        }

        #expect(runs.load(ordering: .relaxed) == 1)
        #expect(subscriptions.filter(\.isLeader).count == 1)
        #expect(table.count == 0)
    }

    @Test("A failure is delivered to all waiters, and the next caller starts anew")
    func failure() async throws {
        let table = Table()
        let first = table.join("key", progress: ()) { (_, _) async throws(PipelineError) in
            throw .badImageData
        }
        await #expect(throws: PipelineError.badImageData) { try await first.output() }

        let second = table.join("key", progress: ()) { (_, _) async throws(PipelineError) in 1 }

        #expect(second.isLeader)
        #expect(try await second.output() == 1)
    }

    @Test("A subscription made before the end gets the result after it")
    func lateWait() async throws {
        let table = Table()
        let subscription = table.join("key", progress: ()) { (_, _) async throws(PipelineError) in 3 }
        let other = table.join("key", progress: ()) { (_, _) async throws(PipelineError) in 4 }

        #expect(try await subscription.output() == 3)
        let late = try await other.output()
        #expect(late == (other.isLeader ? 4 : 3))
    }

    @Test("Several tasks may share one subscription: each gets the result")
    func sharedSubscription() async throws {
        let table = Table()
        let gate = Gate()
        let subscription = table.join("key", progress: ()) { (_, _) async throws(PipelineError) in
            await gate.passage()
            return 5
        }
        async let first = subscription.output()
        async let second = subscription.output()
        await gate.arrival()
        gate.open()

        #expect(try await first == 5)
        #expect(try await second == 5)
    }

    @Test("When the first caller unsubscribes, the others are unaffected")
    func leaderLeaves() async throws {
        let table = Table()
        let gate = Gate()
        let leader = Task {
            let subscription = table.join("key", progress: ()) { (_, _) async throws(PipelineError) in
                await gate.passage()
                guard !Task.isCancelled else { throw .clientLeft }
                return 5
            }
            return try await subscription.output()
        }
        await gate.arrival()
        let follower = table.join("key", progress: ()) { (_, _) async throws(PipelineError) in 6 }

        leader.cancel()
        await #expect(throws: PipelineError.clientLeft) { try await leader.value }
        gate.open()

        #expect(!follower.isLeader)
        #expect(try await follower.output() == 5)
    }

    @Test("The last unsubscription cancels the task, and no caller can join it any more")
    func lastLeaves() async throws {
        let table = Table()
        let started = Gate()
        let cancelled = Gate()
        let caller = Task {
            let subscription = table.join("key", progress: ()) { (_, _) async throws(PipelineError) in
                await withTaskCancellationHandler {
                    await started.passage()
                    await cancelled.passage()
                } onCancel: {
                    cancelled.open()
                }
                throw .clientLeft
            }
            return try await subscription.output()
        }
        await started.arrival()

        caller.cancel()
        await #expect(throws: PipelineError.clientLeft) { try await caller.value }
        let next = table.join("key", progress: ()) { (_, _) async throws(PipelineError) in 8 }
        started.open()

        #expect(next.isLeader)
        #expect(try await next.output() == 8)
        await cancelled.arrival()
    }

    @Test("Different keys have separate tasks")
    func keys() async throws {
        let table = Table()
        let one = table.join("1", progress: ()) { (_, _) async throws(PipelineError) in 1 }
        let two = table.join("2", progress: ()) { (_, _) async throws(PipelineError) in 2 }

        #expect(try await one.output() == 1)
        #expect(try await two.output() == 2)
    }

    @Test("A caller that is cancelled beforehand unsubscribes at once")
    func cancelledBefore() async throws {
        let table = Table()
        let gate = Gate()
        let caller = Task {
            await gate.passage()
            let subscription = table.join("key", progress: ()) { (_, _) async throws(PipelineError) in
                await Gate().passage()
                return 1
            }
            return try await subscription.output()
        }
        caller.cancel()
        gate.open()

        await #expect(throws: PipelineError.clientLeft) { try await caller.value }
        #expect(table.count == 0)
    }
}
