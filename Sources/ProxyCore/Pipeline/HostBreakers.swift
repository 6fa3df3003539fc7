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
    }

    private let rules: FailedURLsConfiguration.Breaker
    private let random: @Sendable () -> Double
    private let state: Mutex<State>

    /// Most breakers that one eviction passes over.
    private static let scanLimit = 64

    /// - Parameter random: chance, from 0 up to 1.
    init(rules: FailedURLsConfiguration.Breaker, random: @escaping @Sendable () -> Double) {
        self.rules = rules
        self.random = random
        state = Mutex(State(ring: EvictionRing(scanLimit: Self.scanLimit)))
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

    /// Takes a fetch's end into account; nil is success.
    ///
    /// - Parameter lastHop: where a redirect led. The one who redirected works; a failure there is the other's alone,
    ///   or anybody could have an origin left alone that redirects wherever it is told to.
    func report(_ pass: Pass, _ error: LoadError?, lastHop: SourceURL.Origin? = nil, at now: Int64) {
        if let lastHop, lastHop != pass.origin {
            forget(pass.origin)
            return report(Pass(origin: lastHop, isProbe: false), error, at: now)
        }
        switch error.map(\.tellsOfOrigin) ?? .works {
        case .works: forget(pass.origin)
        case .fails:
            let chance = random()
            change(pass.origin) { $0.fail(isProbe: pass.isProbe, at: now, by: rules, random: chance) }
        case .nothing: if pass.isProbe { change(pass.origin) { $0.withdraw(isProbe: true) } }
        }
    }

    private func forget(_ origin: SourceURL.Origin) {
        state.withLock { state in
            if state.ring.remove(origin)?.isOpen == true { state.open -= 1 }
        }
    }

    private func change(_ origin: SourceURL.Origin, _ change: (inout HostBreaker) -> Void) {
        state.withLock { state in
            let known = state.ring.peek(origin)
            var breaker = known ?? HostBreaker()
            let wasOpen = breaker.isOpen
            change(&breaker)
            if breaker.isOpen, !wasOpen { state.open += 1 }
            guard known == nil else {
                _ = state.ring.replace(breaker, for: origin)
                return
            }
            if state.ring.count >= rules.maxHosts, state.ring.evict()?.value.isOpen == true {
                state.open -= 1
            }
            _ = state.ring.insert(breaker, for: origin, cost: 1)
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
        case .unreachable, .tlsFailed, .timedOut: .fails
        case .status, .notAnImage, .unsupportedFormat, .tooLarge, .tooManyRedirects, .redirectForbidden,
            .unusable:
            .works
        case .incomplete, .addressForbidden, .queueFull, .queueTimedOut, .storage, .cancelled: .nothing
        }
    }
}
