// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The deadlines of one fetch: its current phase, and the end of that phase.
struct TransferClock {
    private enum Waiting {
        case nothing
        case connection(until: ContinuousClock.Instant)
        case firstByte(until: ContinuousClock.Instant)
        case body(windowEnd: ContinuousClock.Instant, bytes: Int)
        case rest(until: ContinuousClock.Instant)
    }

    /// The time for reading the unneeded rest of a response so that its connection can be reused: most bodies
    /// arrive with their heads.
    static let drainTime = Duration.milliseconds(100)

    private let configuration: FetchConfiguration
    private var waiting = Waiting.nothing

    /// When the whole fetch times out, with all its redirects.
    let totalDeadline: ContinuousClock.Instant

    /// Starts the clock of a whole fetch.
    init(configuration: FetchConfiguration, startedAt now: ContinuousClock.Instant) {
        self.configuration = configuration
        totalDeadline = now + configuration.totalTimeout.duration
    }

    /// Whether the request has not been sent yet on this hop.
    var isConnecting: Bool {
        if case .connection = waiting { return true }
        return false
    }

    /// The next time at which `check(at:)` may return a phase.
    var deadline: ContinuousClock.Instant {
        switch waiting {
        case .nothing: totalDeadline
        case .connection(let until), .firstByte(let until), .rest(let until): min(until, totalDeadline)
        case .body(let windowEnd, _): min(windowEnd, totalDeadline)
        }
    }

    /// A hop begins.
    mutating func beginHop(at now: ContinuousClock.Instant) {
        waiting = .connection(until: now + configuration.connectTimeout.duration)
    }

    /// The connection is open and the request is being sent.
    mutating func requestSent(at now: ContinuousClock.Instant) {
        waiting = .firstByte(until: now + configuration.firstByteTimeout.duration)
    }

    /// The rest of the response is not needed.
    mutating func drain(at now: ContinuousClock.Instant) {
        waiting = .rest(until: now + Self.drainTime)
    }

    /// A part of the response was received, with `bodyBytes` bytes of the body.
    mutating func received(bodyBytes: Int, at now: ContinuousClock.Instant) {
        if case .rest = waiting { return }
        guard isLowSpeedWatched else {
            waiting = .nothing
            return
        }
        if case .body(let windowEnd, let bytes) = waiting {
            waiting = .body(windowEnd: windowEnd, bytes: bytes + bodyBytes)
        } else {
            waiting = .body(windowEnd: now + configuration.lowSpeedTime.duration, bytes: bodyBytes)
        }
    }

    /// Returns the deadline that has passed; nil if none has.
    ///
    /// Starts the next window of the low-speed check after one with enough bytes.
    mutating func check(at now: ContinuousClock.Instant) -> LoadError.Phase? {
        if now >= totalDeadline { return .transfer }
        switch waiting {
        case .connection(let until) where now >= until: return .connect
        case .firstByte(let until) where now >= until: return .firstByte
        case .rest(let until) where now >= until: return .transfer
        case .body(let windowEnd, let bytes) where now >= windowEnd:
            guard bytes >= leastBytesPerWindow else { return .transfer }
            waiting = .body(windowEnd: now + configuration.lowSpeedTime.duration, bytes: 0)
            return nil
        default: return nil
        }
    }

    private var isLowSpeedWatched: Bool {
        configuration.lowSpeed.bytes > 0 && configuration.lowSpeedTime.milliseconds > 0
    }

    private var leastBytesPerWindow: Int {
        configuration.lowSpeed.bytes * configuration.lowSpeedTime.milliseconds / 1_000
    }
}
