// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Cache
@testable import Primitives
@testable import Sharing

@Suite("What is uploaded")
struct UploadQueueTests {
    private func key(_ text: String) -> CacheKey { CacheKey(canonicalText: text) }

    private func upload(_ text: String, bytes: Int = 0) -> SharedUpload {
        let subject = SharedSubject(
            source: key(text), sourceText: "", url: "", result: key(text),
            resultText: String(repeating: "x", count: bytes), tags: [])
        return SharedUpload(.result, of: subject, token: PurgeLog().token(for: key(text))) { nil }
    }

    @Test("A picture is worth it after some uses, or at once where it took long")
    func worth() {
        let queue = UploadQueue(maxBytes: 1 << 20, minUses: 3, minCost: 100)
        func isWorthIt(_ text: String, cost: Int? = nil, isThere: Bool = true) -> Bool {
            queue.isWorthIt(key(text), cost: cost) { _ in isThere }
        }
        #expect(!isWorthIt("a", cost: 99) && !isWorthIt("a") && isWorthIt("a"))
        #expect(isWorthIt("b", cost: 100))
        queue.noteShared(key("a"), at: 5)
        #expect(!isWorthIt("a") && !isWorthIt("a", cost: 99) && isWorthIt("a", cost: 100))
        // Purged since: counted anew.
        #expect(
            !isWorthIt("a", isThere: false) && !isWorthIt("a", isThere: false)
                && isWorthIt("a", isThere: false))
    }

    @Test("With one use everything is worth it")
    func always() {
        let queue = UploadQueue(maxBytes: 1 << 20, minUses: 1, minCost: 100)
        #expect(queue.isWorthIt(key("a"), cost: 0) { _ in true })
    }

    @Test("The queue is bounded by the bytes of its names, and counts what it drops")
    func bounded() throws {
        let queue = UploadQueue(maxBytes: 3 * (256 + 100), minUses: 1, minCost: 0)
        for text in ["a", "b", "c"] { #expect(queue.append(upload(text, bytes: 100))) }
        #expect(!queue.append(upload("d", bytes: 100)))
        #expect(queue.append(upload("a", bytes: 90)), "the same picture again takes no place")
        #expect(queue.dropped == 1 && queue.byteCount == 3 * 356 - 10)

        let first = try #require(queue.begin(atMost: 2))
        #expect(first.subject.source == key("a") && queue.begin(atMost: 2)?.subject.source == key("b"))
        #expect(queue.begin(atMost: 2) == nil)
        queue.end()
        #expect(queue.begin(atMost: 2)?.subject.source == key("c") && queue.byteCount == 0)
        queue.end()
        #expect(queue.begin(atMost: 2) == nil)
    }

    @Test("Bytes of objects are bounded, but for one that is larger than all")
    func budget() {
        let budget = ByteBudget(100)
        #expect(budget.reserve(500) && !budget.reserve(1))
        budget.release(500)
        #expect(budget.reserve(60) && budget.reserve(40) && !budget.reserve(1))
    }
}
