// SPDX-License-Identifier: Apache-2.0

/// Fetches that wait a moment before they try to connect again: without a slot, and not in the queue.
///
/// Pure; as many as there are slots at most for each moment, so looking through all is cheap.
struct DelayedRetries {
    private var due: [(id: UInt64, at: ContinuousClock.Instant)] = []
    private var delay: Duration

    /// - Parameter delay: the pause before the first retry; it doubles with each further one, and chance takes up to half.
    init(delay: TimeSpan) {
        self.delay = delay.duration
    }

    /// Has those that are put aside from now on wait by another pause.
    mutating func adopt(_ delay: TimeSpan) {
        self.delay = delay.duration
    }

    /// How many wait.
    var count: Int { due.count }

    /// When the first one is due.
    var nextDue: ContinuousClock.Instant? { due.map(\.at).min() }

    /// Puts one aside.
    /// - Parameters:
    ///   - retries: how many there have been, this one included.
    ///   - random: from 0 up to 1.
    mutating func add(_ id: UInt64, retries: Int, at now: ContinuousClock.Instant, random: Double) {
        let doubled = delay * (1 << min(retries - 1, 10))
        due.append((id, now + doubled * (1 - random / 2)))
    }

    /// Takes one out; false when it is not here.
    mutating func remove(_ id: UInt64) -> Bool {
        guard let index = due.firstIndex(where: { $0.id == id }) else { return false }
        due.remove(at: index)
        return true
    }

    /// Takes out those that are due.
    mutating func takeDue(at now: ContinuousClock.Instant) -> [UInt64] {
        let ready = due.filter { $0.at <= now }.map(\.id)
        if !ready.isEmpty { due.removeAll { $0.at <= now } }
        return ready
    }
}
