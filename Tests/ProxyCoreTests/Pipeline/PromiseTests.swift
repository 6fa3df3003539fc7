// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import Pipeline
@testable import Primitives

@Suite("A promise")
struct PromiseTests {
    private let promise = Promise<Int>()

    @Test("The first value stays")
    func once() async {
        promise.set(1)
        promise.set(2)

        #expect(promise.value == 1)
        #expect(await promise.wait() == 1)
    }

    @Test("An observer is called once, later or now")
    func observers() {
        let calls = Atomic(0)
        promise.whenSet { calls.add(1, ordering: .relaxed) }
        #expect(calls.load(ordering: .relaxed) == 0)

        #expect(promise.set(1))
        #expect(!promise.set(2))
        #expect(calls.load(ordering: .relaxed) == 1)

        promise.whenSet { calls.add(1, ordering: .relaxed) }
        #expect(calls.load(ordering: .relaxed) == 2)
    }

    @Test("Every task that waits gets the value; a cancelled one gets nothing")
    func waiters() async {
        let cancelled = Task { await promise.wait() }
        cancelled.cancel()
        #expect(await cancelled.value == nil)

        let waiting = (0..<8).map { _ in Task { await promise.wait() } }
        promise.set(7)
        for task in waiting { #expect(await task.value == 7) }
    }

    @Test("A wait can be bounded")
    func boundedWait() async {
        let time = SteppedTime()
        async let bounded: Void = promise.wait(atMost: .seconds(600), by: time)
        await time.advance(by: .seconds(600), when: 1)
        await bounded
        #expect(promise.value == nil)
        promise.set(1)
        await promise.wait(atMost: .seconds(600))
        #expect(promise.value == 1)
    }
}
