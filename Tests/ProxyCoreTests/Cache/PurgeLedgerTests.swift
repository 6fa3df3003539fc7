// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ProxyCore

extension PurgeLedger {
    /// A purge that takes no time.
    func purge(_ key: CacheKey) {
        begin([key])
        end([key])
    }

    /// The same of everything.
    func purgeAll() {
        beginAll()
        endAll()
    }
}

@Suite("The purge log")
struct PurgeLedgerTests {
    private func key(_ number: UInt64) -> CacheKey { CacheKey(high: number, low: number) }

    @Test("A purge voids earlier tokens for any of its keys, and no others")
    func purging() {
        let ledger = PurgeLedger()
        let before = ledger.permit(for: key(1), key(2))
        let other = ledger.permit(for: key(3))

        ledger.purge(key(2))

        #expect(!before.isValid)
        #expect(other.isValid)
        #expect(ledger.permit(for: key(2)).isValid)
    }

    @Test("A purge voids tokens issued while it runs, for good")
    func underWay() {
        let ledger = PurgeLedger()
        ledger.begin([key(1)])
        let meanwhile = ledger.permit(for: key(1), key(2))
        #expect(!meanwhile.isValid)
        #expect(ledger.permit(for: key(2)).isValid)

        ledger.begin([key(1)])
        ledger.end([key(1)])
        #expect(!ledger.permit(for: key(1)).isValid)

        ledger.end([key(1)])
        #expect(!meanwhile.isValid)
        #expect(ledger.permit(for: key(1)).isValid)
    }

    @Test("A purge of everything voids tokens issued while it runs, for good")
    func everythingUnderWay() {
        let ledger = PurgeLedger()
        ledger.beginAll()
        let meanwhile = ledger.permit(for: key(1))
        #expect(!meanwhile.isValid)

        ledger.endAll()
        #expect(!meanwhile.isValid)
        #expect(ledger.permit(for: key(1)).isValid)
    }

    @Test("A purge of everything voids all tokens")
    func everything() {
        let ledger = PurgeLedger()
        let before = ledger.permit(for: key(1))

        ledger.purgeAll()

        #expect(!before.isValid)
        #expect(ledger.permit(for: key(1)).isValid)
    }

    @Test("The log is bounded: for keys that it has dropped, old tokens count as purged and new ones do not")
    func bounded() {
        let ledger = PurgeLedger(capacity: 8)
        let old = ledger.permit(for: key(1_000))

        for number in 0..<100 { ledger.purge(key(UInt64(number))) }

        #expect(!old.isValid)
        #expect(ledger.permit(for: key(0)).isValid)
        #expect(ledger.permit(for: key(1_000)).isValid)
    }
}
