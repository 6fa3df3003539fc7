// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Bodies
@testable import Cache
@testable import Freshness
@testable import Imaging
@testable import Pipeline

@Suite("A fetch whose body is streamed")
struct ImageProgressTests {
    private func newFetch() -> OriginalFetch {
        OriginalFetch(
            body: PartialBody { () throws(BodyError) in throw .storage("no room") }, place: SpillTarget(),
            decodable: [.jpeg], maxBytes: 1 << 20, token: PurgeLog().token(),
            decideReuse: {
                FreshnessPolicy(configuration: FreshnessConfiguration()).verdict(on: $0, after: $1)
            })
    }

    @Test("A fetch whose body never arrives is not retained by those that wait for it")
    func release() async {
        let progress = ImageProgress()
        weak var released: OriginalFetch?
        do {
            let fetch = newFetch()
            released = fetch
            progress.follow(fetch)
        }
        #expect(released == nil)
        progress.streamedFetch.set(nil)
        #expect(await (progress.streamedFetch.wait() ?? nil) == nil)
    }

    @Test("A wait for the body ends with the task that waits")
    func cancelled() async {
        let progress = ImageProgress()
        let waiting = Task { await (progress.streamedFetch.wait() ?? nil) == nil }
        waiting.cancel()
        #expect(await waiting.value)
    }
}
