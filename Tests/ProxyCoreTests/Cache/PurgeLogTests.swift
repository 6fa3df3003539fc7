// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Cache
@testable import Primitives

extension PurgeLog {
    /// A purge that begins and ends at once.
    func purge(_ key: CacheKey) {
        begin([key])
        end([key])
    }

    /// The same for everything.
    func purgeAll() {
        beginAll()
        endAll()
    }
}

@Suite("The purge log")
struct PurgeLogTests {
    private func key(_ number: UInt64) -> CacheKey { CacheKey(high: number, low: number) }

    @Test("A purge voids earlier tokens for any of its keys, and no others")
    func purging() {
        let purgeLog = PurgeLog()
        let before = purgeLog.token(for: key(1), key(2))
        let other = purgeLog.token(for: key(3))

        purgeLog.purge(key(2))

        #expect(!before.isValid)
        #expect(other.isValid)
        #expect(purgeLog.token(for: key(2)).isValid)
    }

    @Test("A purge voids tokens issued while it runs, for good")
    func underWay() {
        let purgeLog = PurgeLog()
        purgeLog.begin([key(1)])
        let meanwhile = purgeLog.token(for: key(1), key(2))
        #expect(!meanwhile.isValid)
        #expect(purgeLog.token(for: key(2)).isValid)

        purgeLog.begin([key(1)])
        purgeLog.end([key(1)])
        #expect(!purgeLog.token(for: key(1)).isValid)

        purgeLog.end([key(1)])
        #expect(!meanwhile.isValid)
        #expect(purgeLog.token(for: key(1)).isValid)
    }

    @Test("A purge of everything voids tokens issued while it runs, for good")
    func everythingUnderWay() {
        let purgeLog = PurgeLog()
        purgeLog.beginAll()
        let meanwhile = purgeLog.token(for: key(1))
        #expect(!meanwhile.isValid)

        purgeLog.endAll()
        #expect(!meanwhile.isValid)
        #expect(purgeLog.token(for: key(1)).isValid)
    }

    @Test("A purge of everything voids all tokens")
    func everything() {
        let purgeLog = PurgeLog()
        let before = purgeLog.token(for: key(1))

        purgeLog.purgeAll()

        #expect(!before.isValid)
        #expect(purgeLog.token(for: key(1)).isValid)
    }

    @Test("The log is bounded: for keys that it has dropped, old tokens count as purged and new ones do not")
    func bounded() {
        let purgeLog = PurgeLog(capacity: 8)
        let old = purgeLog.token(for: key(1_000))

        for number in 0..<100 { purgeLog.purge(key(UInt64(number))) }

        #expect(!old.isValid)
        #expect(purgeLog.token(for: key(0)).isValid)
        #expect(purgeLog.token(for: key(1_000)).isValid)
    }
}
