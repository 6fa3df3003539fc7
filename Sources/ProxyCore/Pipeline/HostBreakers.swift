// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The breakers of all origins that have failed lately; one that works needs none.
///
/// Bounded by `failedURLs.breaker.maxHosts`: when full, one that nobody has asked for lately goes. Safe from any thread.
final class HostBreakers: Sendable {
    /// A fetch that was let through; to be reported back.
    struct Pass: Sendable {
        let origin: SourceURL.Origin
        let isProbe: Bool
    }

    private struct State {
        var ring: EvictionRing<SourceURL.Origin, HostBreaker>
        var open = 0
        var rules: FailedURLsConfiguration.Breaker

        /// Forgets those beyond `count` that nobody has asked for lately.
        mutating func shrink(to count: Int) {
            while ring.count > count, let gone = ring.evict() {
                if gone.value.isOpen { open -= 1 }
            }
        }
    }

    private let random: @Sendable () -> Double
    private let state: Mutex<State>

    /// Most breakers that one eviction passes over.
    private static let scanLimit = 64

    /// - Parameter random: chance, from 0 up to 1.
    init(rules: FailedURLsConfiguration.Breaker, random: @escaping @Sendable () -> Double) {
        self.random = random
        state = Mutex(State(ring: EvictionRing(scanLimit: Self.scanLimit), rules: rules))
    }

    /// Goes by other rules from the next failure on.
    func adopt(_ rules: FailedURLsConfiguration.Breaker) {
        state.withLock { state in
            state.rules = rules
            state.shrink(to: rules.maxHosts)
        }
    }

    /// Origins that are refused now, or probed.
    var openCount: Int { state.withLock { $0.open } }

    /// Lets a fetch through.
    /// - Throws: `hostUnavailable` while the origin is left alone.
    func admit(_ origin: SourceURL.Origin, at now: Int64) throws(PipelineError) -> Pass {
        let admission = state.withLock { state in
            guard var breaker = state.ring.value(for: origin) else {
                return HostBreaker.Admission.admitted(isProbe: false)
            }
            defer { _ = state.ring.replace(breaker, for: origin) }
            return breaker.admit(at: now)
        }
        switch admission {
        case .admitted(let isProbe): return Pass(origin: origin, isProbe: isProbe)
        case .refused(let seconds): throw .hostUnavailable(retryAfter: Int(seconds))
        }
    }

    /// Whose failure a fetch that has been redirected is.
    enum Culprit: Sendable, Hashable {
        /// That of the origin where the last redirect led, or of the only one.
        case lastHop
        /// That of this one.
        case origin(SourceURL.Origin)
        /// That of several together, or of an origin that was not even asked.
        case nobody
    }

    /// Takes a fetch's end into account; nil is success.
    ///
    /// The one who redirects works, and a failure where that leads is the other's alone, or anybody could have an origin
    /// left alone that redirects wherever it is told to. One who redirects only when the time is up has failed himself, or
    /// anybody could have any origin left alone.
    /// - Parameters:
    ///   - lastHop: where the last redirect led.
    ///   - culprit: whose failure it is.
    func report(
        _ pass: Pass, _ error: LoadError?, lastHop: SourceURL.Origin? = nil, culprit: Culprit = .lastHop,
        at now: Int64
    ) {
        let last = lastHop ?? pass.origin
        switch error.map(\.tellsOfOrigin) ?? .works {
        case .works: [pass.origin, last].forEach(forget)
        case .nothing: excuse(pass, hasRedirected: last != pass.origin)
        case .fails:
            let blamed = culprit.origin(lastHop: last)
            if blamed != pass.origin { excuse(pass, hasRedirected: last != pass.origin) }
            guard let blamed else { return }
            let isProbe = pass.isProbe && blamed == pass.origin
            let chance = random()
            change(blamed) { $0.fail(isProbe: isProbe, at: now, by: $1, random: chance) }
        }
    }

    /// The first origin of a fetch is not to blame: it works if it has redirected to another, else nobody knows.
    private func excuse(_ pass: Pass, hasRedirected: Bool) {
        if hasRedirected { return forget(pass.origin) }
        if pass.isProbe { change(pass.origin) { breaker, _ in breaker.withdraw(isProbe: true) } }
    }

    private func forget(_ origin: SourceURL.Origin) {
        state.withLock { state in
            if state.ring.remove(origin)?.isOpen == true { state.open -= 1 }
        }
    }

    private func change(
        _ origin: SourceURL.Origin, _ change: (inout HostBreaker, FailedURLsConfiguration.Breaker) -> Void
    ) {
        state.withLock { state in
            let known = state.ring.peek(origin)
            var breaker = known ?? HostBreaker()
            let wasOpen = breaker.isOpen
            change(&breaker, state.rules)
            if breaker.isOpen, !wasOpen { state.open += 1 }
            guard known == nil else {
                _ = state.ring.replace(breaker, for: origin)
                return
            }
            state.shrink(to: state.rules.maxHosts - 1)
            _ = state.ring.insert(breaker, for: origin, cost: 1)
        }
    }
}

extension HostBreakers.Culprit {
    fileprivate func origin(lastHop: SourceURL.Origin) -> SourceURL.Origin? {
        switch self {
        case .lastHop: lastHop
        case .origin(let origin): origin
        case .nobody: nil
        }
    }
}

extension LoadError {
    /// What a failed fetch says of whether its origin can be reached.
    fileprivate enum Finding {
        case works, fails, nothing
    }

    /// An answer of any kind shows that the origin works; a body that breaks off shows neither.
    fileprivate var tellsOfOrigin: Finding {
        switch self {
        // A forbidden name as one that does not resolve, or the breaker would tell them apart.
        case .unreachable, .nameForbidden, .tlsFailed, .timedOut: .fails
        case .status, .notAnImage, .unsupportedFormat, .tooLarge, .tooManyRedirects, .redirectForbidden,
            .unusable:
            .works
        case .incomplete, .addressForbidden, .queueFull, .queueTimedOut, .storage, .cancelled: .nothing
        }
    }
}
