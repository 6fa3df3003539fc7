// SPDX-License-Identifier: Apache-2.0

/// The deadlines of one fetch: what it waits for now, and until when.
struct TransferClock {
    private enum Waiting {
        case nothing
        case connection(until: ContinuousClock.Instant)
        case firstByte(until: ContinuousClock.Instant)
        case body(windowEnd: ContinuousClock.Instant, bytes: Int)
        case rest(until: ContinuousClock.Instant)
    }

    /// How long the rest of a response is waited for that nobody needs, so that its connection can be used again: most come
    /// with their heads.
    static let drainTime = Duration.milliseconds(100)

    private let configuration: FetchConfiguration
    private var waiting = Waiting.nothing

    /// When the whole fetch gives up, with all its redirects.
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

    /// The next moment at which `check(at:)` may have something to say.
    var deadline: ContinuousClock.Instant {
        switch waiting {
        case .nothing: totalDeadline
        case .connection(let until), .firstByte(let until), .rest(let until): min(until, totalDeadline)
        case .body(let windowEnd, _): min(windowEnd, totalDeadline)
        }
    }

    /// A request to the first or the next origin begins.
    mutating func beginHop(at now: ContinuousClock.Instant) {
        waiting = .connection(until: now + configuration.connectTimeout.duration)
    }

    /// The connection stands and the request goes out.
    mutating func requestSent(at now: ContinuousClock.Instant) {
        waiting = .firstByte(until: now + configuration.firstByteTimeout.duration)
    }

    /// The head has decided: the rest of the response is of no use.
    mutating func drain(at now: ContinuousClock.Instant) {
        waiting = .rest(until: now + Self.drainTime)
    }

    /// Some of the response came; `bodyBytes` of it belong to the body.
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

    /// Which deadline has passed; nil while none has.
    ///
    /// Opens the next window of the low-speed watch when one has ended well.
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
