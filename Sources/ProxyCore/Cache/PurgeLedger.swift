// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Which keys were purged while work was under way: what began before a purge is answered, and kept nowhere.
///
/// Work takes a permit when it begins; whoever stores asks the permit under the lock, or on the thread, that a purge
/// removes entries under, so that nothing slips in between. Bounded: the keys purged last are told apart, what began
/// before one that is no longer known counts as purged. Safe from any thread; a leaf: it calls nobody.
public final class PurgeLedger: Sendable {
    private struct State {
        /// Purges so far.
        var count: UInt64 = 0
        /// Work that began before this is void.
        var floor: UInt64 = 0
        var purges: [CacheKey: UInt64] = [:]
        var order: [(key: CacheKey, number: UInt64)] = []
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// - Parameter capacity: keys that are told apart.
    public init(capacity: Int = 4_096) {
        self.capacity = max(1, capacity)
    }

    /// Leave to store what is now beginning to be made for these keys.
    public func permit(for keys: CacheKey...) -> Permit {
        Permit(ledger: self, keys: keys, number: state.withLock(\.count))
    }

    /// Voids the permits given so far for a source's or a result's key.
    public func purge(_ key: CacheKey) {
        state.withLock { state in
            state.count += 1
            state.purges[key] = state.count
            state.order.append((key, state.count))
            if state.order.count > capacity { Self.forgetHalf(&state) }
        }
    }

    /// Voids all permits given so far.
    public func purgeAll() {
        state.withLock { state in
            state.count += 1
            state.floor = state.count
            (state.purges, state.order) = ([:], [])
        }
    }

    private static func forgetHalf(_ state: inout State) {
        let old = state.order.prefix(state.order.count / 2)
        for (key, number) in old {
            state.floor = number
            if state.purges[key] == number { state.purges[key] = nil }
        }
        state.order.removeFirst(old.count)
    }

    fileprivate func isValid(_ permit: Permit) -> Bool {
        state.withLock { state in
            permit.number >= state.floor
                && permit.keys.allSatisfy { key in state.purges[key].map { $0 <= permit.number } ?? true }
        }
    }

    /// Leave to store, unless one of its keys was purged since it was given.
    public struct Permit: Sendable {
        fileprivate let ledger: PurgeLedger
        fileprivate let keys: [CacheKey]
        fileprivate let number: UInt64

        /// Whether what it was given for may be stored.
        public var isValid: Bool { ledger.isValid(self) }
    }
}
