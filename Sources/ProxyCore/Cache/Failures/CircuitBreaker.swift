// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Whether an origin (scheme, host and port) or a store may be asked, after several failures in a row.
///
/// Pure: closed while it works, open for a short time that doubles with each further failure, half open after that time:
/// then one fetch alone may probe whether the origin is back, and a further one each time that the first pause has passed
/// without a result, since a client may choose what takes long. Times are seconds by one clock that its owner reads: for an origin
/// since 1970, for a store since the start.
package struct CircuitBreaker: Sendable {
    /// Whether a fetch may begin.
    package enum Admission: Sendable, Hashable {
        /// It may; a probe decides for all others.
        case admitted(isProbe: Bool)
        /// It may not; another try makes sense after this many seconds, at least 1.
        case refused(seconds: Int64)
    }

    private var failures = 0
    private var lastFailure: Int64 = 0
    /// How often it has opened since the origin last worked.
    private var timesOpened = 0
    private var openedAt: Int64 = 0
    private var openUntil: Int64 = 0
    private var isProbing = false
    /// When the last probe began.
    private var probedAt: Int64 = 0

    /// Closed.
    package init() {}

    /// Of a pause, the share that chance may take away, so that many daemons do not probe as one.
    private static let jitterShare = 0.2
    /// The pause is doubled at most this often, which no configured maximum outlasts.
    private static let mostDoublings = 20

    /// Whether it refuses, or lets a probe through at most.
    package var isOpen: Bool { timesOpened > 0 }

    /// Decides on a fetch; a probe has to report its end by `fail` or `withdrawProbe`; a success
    /// is the end of this breaker: a new one is closed.
    package mutating func admit(at now: Int64, by rules: FailedURLsConfiguration.Breaker) -> Admission {
        guard isOpen else { return .admitted(isProbe: false) }
        // A clock that was set back must not make the pause longer.
        guard now >= openUntil || now < openedAt else { return .refused(seconds: openUntil - now) }
        let isDue = now - probedAt >= Int64(rules.pause.seconds) || now < probedAt
        guard !isProbing || isDue else { return .refused(seconds: 1) }
        isProbing = true
        probedAt = now
        return .admitted(isProbe: true)
    }

    /// The fetch has failed in the way that counts.
    /// - Parameters:
    ///   - isProbe: what `admit` has said of it.
    ///   - now: in seconds, by the same clock as in `admit`.
    ///   - rules: the settings.
    ///   - random: from 0 up to 1.
    ///   - least: seconds that a pause lasts at least, within `rules.maximum`.
    package mutating func fail(
        isProbe: Bool, at now: Int64, by rules: FailedURLsConfiguration.Breaker, random: Double,
        atLeast least: Int64 = 0
    ) {
        if isOpen {
            // A fetch that began before it opened says nothing new.
            guard isProbe else { return }
            isProbing = false
            return trip(at: now, by: rules, random: random, atLeast: least)
        }
        if now - lastFailure > Int64(rules.maximum.seconds) { failures = 0 }
        lastFailure = now
        failures += 1
        if failures >= rules.failures { trip(at: now, by: rules, random: random, atLeast: least) }
    }

    /// The probe ended without a result about the origin.
    package mutating func withdrawProbe() { isProbing = false }

    private mutating func trip(
        at now: Int64, by rules: FailedURLsConfiguration.Breaker, random: Double, atLeast least: Int64
    ) {
        let doubled = rules.pause.seconds << min(timesOpened, Self.mostDoublings)
        let pause = min(Double(doubled), Double(rules.maximum.seconds)) * (1 - Self.jitterShare * random)
        timesOpened += 1
        openedAt = now
        let longest = Int64(rules.maximum.seconds)
        openUntil = now + max(1, Int64(pause.rounded(.up)), min(least, longest))
    }
}
