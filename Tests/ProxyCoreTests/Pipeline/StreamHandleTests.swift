// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ProxyCore

@Suite("A fetch whose body is streamed")
struct ArrivalTests {
    private func newFetch() -> OriginalFetch {
        OriginalFetch(
            body: GrowingBody { () throws(LoadError) in throw .storage("no room") }, place: SpillPlace(),
            decodable: [.jpeg], maxBytes: 1 << 20, permit: PurgeLedger().permit(),
            judge: { FreshnessPolicy(configuration: FreshnessConfiguration()).verdict(on: $0, after: $1) })
    }

    @Test("A fetch whose body never arrives is not retained by those that wait for it")
    func release() async {
        let arrival = Arrival()
        weak var released: OriginalFetch?
        do {
            let fetch = newFetch()
            released = fetch
            arrival.follow(fetch)
        }
        #expect(released == nil)
        arrival.end()
        #expect(await arrival.fetch() == nil)
    }

    @Test("A wait for the body ends with the task that waits")
    func cancelled() async {
        let arrival = Arrival()
        let waiting = Task { await arrival.fetch() == nil }
        waiting.cancel()
        #expect(await waiting.value)
    }

    @Test("A wait for the end of a task is bounded")
    func patience() async {
        let arrival = Arrival()
        await arrival.end(within: .milliseconds(1))
        arrival.end()
        await arrival.end(within: .seconds(600))
    }
}
