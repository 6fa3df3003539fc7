// SPDX-License-Identifier: Apache-2.0

import Freshness
import Loading
import Primitives
import Synchronization

/// The store's clock, as its answers show it: the one clock by which all nodes count ages, however wrong their own are.
///
/// Safe from any thread.
package final class StoreClock: Sendable {
    private let local: @Sendable () -> Int64
    /// The store's time less the local one, in seconds.
    private let offset = Mutex<Int64?>(nil)

    /// - Parameter local: this machine's time in seconds since 1970.
    package init(local: @escaping @Sendable () -> Int64 = SystemTime.seconds) { self.local = local }

    /// Seconds since 1970 by the store's clock; by this machine's as long as the store has not answered.
    package var now: Int64 { local() + (offset.withLock { $0 } ?? 0) }

    /// Whether the store has shown its clock.
    var isKnown: Bool { offset.withLock { $0 != nil } }

    /// When an answer was sent, in seconds since 1970 by the store's clock; nil where it does not say.
    func time(of answer: ExchangeAnswer) -> Int64? {
        answer.field("date").flatMap { HTTPDate($0, now: local()) }?.seconds
    }

    func note(_ answer: ExchangeAnswer) {
        guard let time = time(of: answer) else { return }
        let difference = time - local()
        offset.withLock { $0 = difference }
    }
}
