// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Synchronization
import Testing

@testable import Cache
@testable import Primitives

@Suite("Set of entries")
struct EntrySetTests {
    @Test("Until the set is complete, it may contain any entry")
    func isCautious() {
        let set = EntrySet()

        #expect(set.mayContain(EntryID(kind: .result, key: key("a"))))
        set.markComplete()
        #expect(!set.mayContain(EntryID(kind: .result, key: key("a"))))
    }

    @Test("An original and a result of one key are two entries")
    func tellsKindsApart() {
        let set = EntrySet()
        set.markComplete()

        set.insert(EntryID(kind: .original, key: key("a")))

        #expect(set.mayContain(EntryID(kind: .original, key: key("a"))))
        #expect(!set.mayContain(EntryID(kind: .result, key: key("a"))))
    }

    @Test("A million entries take at most 16 bytes each, at every size on the way up and down")
    func isCompact() {
        let set = EntrySet()
        set.markComplete()
        var random = SplitMix(seed: 1)
        let keys = (0..<1_000_000).map { _ in CacheKey(high: random.next(), low: random.next()) }

        for (index, key) in keys.enumerated() {
            set.insert(EntryID(kind: .result, key: key))
            if index % 100_000 == 99_999 { #expect(set.byteCount <= 16 * (index + 1)) }
        }
        for (index, key) in keys.enumerated() where index % 10 != 0 {
            set.remove(EntryID(kind: .result, key: key))
            // Each tenth stays.
            let count = 1_000_000 - (index - index / 10)
            if index % 100_000 == 99_999 { #expect(set.byteCount <= 16 * count) }
        }

        let wrong = keys.enumerated().filter { index, key in
            set.mayContain(EntryID(kind: .result, key: key)) != (index % 10 == 0)
        }
        #expect(wrong.isEmpty)
    }

    @Test("A file counts as checked until its size or times change")
    func remembersVerified() {
        let files = VerifiedFiles(capacity: 64)
        let file = VerifiedFiles.Identity(inode: 7, changed: 100, size: 3)

        files.insert(file)

        #expect(files.contains(file))
        #expect(!files.contains(VerifiedFiles.Identity(inode: 8, changed: 100, size: 3)))
        #expect(!files.contains(VerifiedFiles.Identity(inode: 7, changed: 101, size: 3)))
        #expect(!files.contains(VerifiedFiles.Identity(inode: 7, changed: 100, size: 4)))
    }

    @Test("Access times beyond the bound are dropped")
    func boundsAccesses() {
        let accesses = AccessTimes(limit: 4)

        for number in 0..<6 { accesses.mark(EntryID(kind: .result, key: key("\(number)")), at: 1) }
        accesses.mark(EntryID(kind: .result, key: key("0")), at: 9)

        let taken = accesses.take()
        #expect(taken.count == 4 && taken.first { $0.id.key == key("0") }?.time == 9)
        #expect(!taken.contains { $0.id.key == key("5") })
    }

    @Test("Access times are written in the order of the index, each once")
    func ordersAccesses() {
        let ids = [(0, 5), (3, 0), (0, UInt64.max), (2, 7), (2, 5)].map { high, low in
            EntryID(kind: .result, key: CacheKey(high: high, low: low))
        }
        let accesses = AccessTimes(limit: 8)
        for (id, time) in zip(ids, 1...) { accesses.mark(id, at: Int64(time)) }

        #expect(accesses.take().map(\.time) == [3, 2, 1, 5, 4])
        #expect(accesses.take().isEmpty)
    }
}

extension EntrySet {
    /// The memory that the sets take, in bytes: three quarters of their slots are their capacity, and a slot also takes a bit.
    fileprivate var byteCount: Int { parts.reduce(0) { $0 + $1.set.withLock(\.capacity) * 4 / 3 * 33 / 8 } }
}
