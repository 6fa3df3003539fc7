// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ProxyCore

@Suite("A fetch that may be followed")
struct ArrivalTests {
    private func newFetch() -> OriginalFetch {
        OriginalFetch(
            body: GrowingBody { () throws(LoadError) in throw .storage("no room") }, place: SpillPlace(),
            decodable: [.jpeg], maxBytes: 1 << 20, permit: PurgeLedger().permit(),
            judge: { FreshnessPolicy(configuration: FreshnessConfiguration()).verdict(on: $0, after: $1) })
    }

    @Test("is not kept by those who wait to follow it, though it never arrives")
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

    @Test("a wait for it ends with the task that waits")
    func cancelled() async {
        let arrival = Arrival()
        let waiting = Task { await arrival.fetch() == nil }
        waiting.cancel()
        #expect(await waiting.value)
    }

    @Test("a flight's end is waited for no longer than a while")
    func patience() async {
        let arrival = Arrival()
        await arrival.end(within: .milliseconds(1))
        arrival.end()
        await arrival.end(within: .seconds(600))
    }
}
