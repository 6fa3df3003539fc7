// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Fetches that pause before they try to connect again: they have no slot and are not in the queue.
///
/// Pure. It holds at most as many fetches as there are slots for each point in time, so a linear search is
/// cheap.
struct DelayedRetries {
    private var due: [(id: UInt64, at: ContinuousClock.Instant)] = []
    /// The pause before the first retry of fetches that are added later; it doubles with each retry; a random
    /// part of up to half is taken off.
    var delay: TimeSpan

    init(delay: TimeSpan) {
        self.delay = delay
    }

    /// The number of fetches that pause.
    var count: Int { due.count }

    /// The time at which the first one is due.
    var nextDue: ContinuousClock.Instant? { due.map(\.at).min() }

    /// Adds a fetch.
    /// - Parameters:
    ///   - retries: the number of retries, including this one.
    ///   - random: from 0 up to 1.
    mutating func add(_ id: UInt64, retries: Int, at now: ContinuousClock.Instant, random: Double) {
        let doubled = delay.duration * (1 << min(retries - 1, 10))
        due.append((id, now + doubled * (1 - random / 2)))
    }

    /// Removes a fetch; false if it is not here.
    mutating func remove(_ id: UInt64) -> Bool {
        guard let index = due.firstIndex(where: { $0.id == id }) else { return false }
        due.remove(at: index)
        return true
    }

    /// Removes and returns the fetches that are due.
    mutating func takeDue(at now: ContinuousClock.Instant) -> [UInt64] {
        let ready = due.filter { $0.at <= now }.map(\.id)
        if !ready.isEmpty { due.removeAll { $0.at <= now } }
        return ready
    }
}
