// SPDX-License-Identifier: Apache-2.0

/// Whether the store may be asked, after several failures in a row. Pure.
///
/// Closed while it works; open for a pause that doubles with each further failure; then one exchange alone probes it.
struct StoreBreaker: Sendable {
    private var failures = 0
    private var pause = Duration.zero
    private var openUntil: ContinuousClock.Instant?
    private var isProbing = false

    /// Failures in a row that open it.
    static let limit = 5
    static let firstPause = Duration.seconds(1)
    static let longestPause = Duration.seconds(30)

    /// Whether it refuses, or lets a probe through at most.
    var isOpen: Bool { openUntil != nil }

    /// Whether an exchange may begin; each that may reports its end by `end`.
    mutating func begin(at now: ContinuousClock.Instant) -> Bool {
        guard let openUntil else { return true }
        guard now >= openUntil, !isProbing else { return false }
        isProbing = true
        return true
    }

    /// An exchange has ended.
    /// - Parameter hasFailed: nil where it says nothing of the store.
    mutating func end(_ hasFailed: Bool?, at now: ContinuousClock.Instant) {
        guard let hasFailed else {
            isProbing = false
            return
        }
        guard hasFailed else {
            self = StoreBreaker()
            return
        }
        failures += 1
        let wasProbe = isProbing
        isProbing = false
        guard failures >= Self.limit, openUntil == nil || wasProbe else { return }
        pause = min(Self.longestPause, pause == .zero ? Self.firstPause : pause * 2)
        openUntil = now + pause
    }
}
