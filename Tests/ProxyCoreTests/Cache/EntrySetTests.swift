// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ProxyCore

@Suite("Set of entries")
struct EntrySetTests {
    @Test("Until everything is known, it may contain anything")
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
            if index % 100_000 == 99_999 { #expect(set.byteCount <= 16 * set.count) }
        }
        #expect(set.count == 1_000_000)
        for (index, key) in keys.enumerated() where index % 10 != 0 {
            set.remove(EntryID(kind: .result, key: key))
            if index % 100_000 == 99_999 { #expect(set.byteCount <= 16 * set.count) }
        }

        #expect(set.count == 100_000)
        let wrong = keys.enumerated().filter { index, key in
            set.mayContain(EntryID(kind: .result, key: key)) != (index % 10 == 0)
        }
        #expect(wrong.isEmpty)
    }

    @Test("Any order of insertions and removals keeps a table the same as a set")
    func tableIsASet() {
        var table = FingerprintTable()
        var model: Set<UInt64> = []
        var random = SplitMix(seed: 3)
        for step in 0..<50_000 {
            // Few values, crowded at both ends of the table, so that chains meet and wrap around.
            let value = (random.next() % 200 + 1) &* (random.next() % 2 == 0 ? 1 : .max)
            if random.next() % 5 < (step % 20_000 < 10_000 ? 3 : 2) {
                #expect(table.insert(value) == model.insert(value).inserted)
            } else {
                #expect(table.remove(value) == (model.remove(value) != nil))
            }
            #expect(table.count == model.count)
        }
        for value in model { #expect(table.contains(value)) }
    }

    @Test("A file is known as checked until anything about it changes")
    func remembersVerified() {
        let files = VerifiedFiles(capacity: 64)
        let file = VerifiedFiles.Identity(inode: 7, changed: 100, size: 3)

        files.insert(file)

        #expect(files.contains(file))
        #expect(!files.contains(VerifiedFiles.Identity(inode: 8, changed: 100, size: 3)))
        #expect(!files.contains(VerifiedFiles.Identity(inode: 7, changed: 101, size: 3)))
        #expect(!files.contains(VerifiedFiles.Identity(inode: 7, changed: 100, size: 4)))
    }

    @Test("Accesses beyond the bound are forgotten, and counted")
    func boundsTouches() {
        let touches = PendingTouches(limit: 4)

        let isHalfFull = (0..<6).map { touches.mark(EntryID(kind: .result, key: key("\($0)")), at: 1) }
        _ = touches.mark(EntryID(kind: .result, key: key("0")), at: 9)

        #expect(isHalfFull == [false, true, false, false, false, false])
        #expect(touches.dropped == 2)
        #expect(touches.takeAll()[EntryID(kind: .result, key: key("0"))] == 9)
        #expect(touches.takeAll().isEmpty)
    }

    @Test("Accesses are written in the order of the index, each once, and are found until then")
    func ordersTouches() {
        let ids = [(0, 5), (3, 0), (0, UInt64.max), (2, 7), (2, 5)].map { high, low in
            EntryID(kind: .result, key: CacheKey(high: high, low: low))
        }
        var round = TouchRound(Dictionary(uniqueKeysWithValues: zip(ids, 1...)))

        #expect(ids.map { round.time(of: $0) } == [1, 2, 3, 4, 5])
        #expect(round.time(of: EntryID(kind: .original, key: ids[0].key)) == nil)
        #expect(round.next(2).map(\.touched) == [ids[2], ids[1]])
        #expect(ids.map { round.time(of: $0) } == [1, nil, nil, 4, 5])
        #expect(round.next(2).map(\.touched) == [ids[0], ids[4]])
        #expect(round.next(2).map(\.touched) == [ids[3]] && round.isEmpty)
        #expect(round.next(2).isEmpty && round.time(of: ids[3]) == nil)
    }

    @Test("Half of the places taken is when accesses should be written")
    func tellsWhenHalfFull() {
        let touches = PendingTouches(limit: 4)
        _ = touches.mark(EntryID(kind: .result, key: key("a")), at: 1)
        #expect(!touches.isHalfFull)
        _ = touches.mark(EntryID(kind: .result, key: key("b")), at: 2)

        #expect(touches.isHalfFull)
        #expect(touches.time(of: EntryID(kind: .result, key: key("b"))) == 2)
        #expect(touches.time(of: EntryID(kind: .result, key: key("c"))) == nil)
    }
}

extension IndexChange {
    fileprivate var touched: EntryID? {
        guard case .touch(let id, _) = self else { return nil }
        return id
    }
}
