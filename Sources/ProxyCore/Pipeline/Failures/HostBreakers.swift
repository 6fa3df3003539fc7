// SPDX-License-Identifier: Apache-2.0

import Cache
import Primitives
import Synchronization
package import URLs

/// An origin that is left alone for a while.
package struct RefusedOrigin: Sendable {
    package let origin: SourceURL.Origin
    /// Whether it is left alone for the requests of one client, because it answered that with 429.
    package let isForOneClient: Bool
    /// For how many seconds more.
    package let seconds: Int64
}

/// The breakers of all origins that have failed lately; one that works needs none.
///
/// An origin has one breaker for all clients, which counts failures to connect alone: a client chooses no more of them
/// than the origin that it names. What fails after the request was sent may be the work of the client that chose the URL,
/// and is remembered of the URL. What an origin refuses with 429 counts against the client that asked, in a breaker of
/// that client's own.
///
/// Bounded by `failedURLs.breaker.maxHosts`: when full, one that was not requested lately goes. Safe from any
/// thread.
package final class HostBreakers: Sendable {
    /// A fetch that was admitted; to be reported back.
    struct Admission: Sendable {
        let origin: SourceURL.Origin
        /// The client that it is for; nil for the daemon itself.
        let client: ClientID?
        /// Whether it probes whether the origin can be connected to.
        let isProbe: Bool
        /// Whether it probes whether the origin answers the client with anything but 429.
        let isRetry: Bool
    }

    /// What a breaker is about.
    fileprivate enum Key: Hashable {
        /// Whether an origin can be connected to.
        case connecting(SourceURL.Origin)
        /// Whether an origin says that a client asks it too often.
        case asking(SourceURL.Origin, ClientID?)
    }

    fileprivate struct State {
        var ring: EvictionRing<Key, CircuitBreaker>
        var open = 0
        var rules: FailedURLsConfiguration.Breaker

        /// Forgets those beyond `count` that were not requested lately.
        mutating func shrink(to count: Int) {
            while ring.count > count, let gone = ring.evict() {
                if gone.value.isOpen { open -= 1 }
            }
        }

        mutating func admit(_ key: Key, at now: Int64) -> CircuitBreaker.Admission {
            guard var breaker = ring.value(for: key) else { return .admitted(isProbe: false) }
            defer { _ = ring.replace(breaker, for: key) }
            return breaker.admit(at: now, by: rules)
        }

        mutating func withdrawProbe(_ key: Key) {
            guard var breaker = ring.peek(key) else { return }
            breaker.withdrawProbe()
            _ = ring.replace(breaker, for: key)
        }

        mutating func forget(_ key: Key) {
            if ring.remove(key)?.isOpen == true { open -= 1 }
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

    /// Breakers that refuse now, or let a probe through.
    var openCount: Int { state.withLock { $0.open } }

    /// Admits a fetch for a client.
    /// - Throws: `hostUnavailable` while the origin is left alone; `hostBusy` while it is by this client's requests.
    func admit(
        _ origin: SourceURL.Origin, for client: ClientID? = nil, at now: Int64
    ) throws(PipelineError) -> Admission {
        let (asking, connecting) = state.withLock { state in
            let asking = state.admit(.asking(origin, client), at: now)
            guard case .admitted(let isRetry) = asking else {
                return (asking, CircuitBreaker.Admission.admitted(isProbe: false))
            }
            let connecting = state.admit(.connecting(origin), at: now)
            if case .refused = connecting, isRetry { state.withdrawProbe(.asking(origin, client)) }
            return (asking, connecting)
        }
        switch (asking, connecting) {
        case (.refused(let seconds), _): throw .hostBusy(retryAfter: Int(seconds))
        case (_, .refused(let seconds)): throw .hostUnavailable(retryAfter: Int(seconds))
        case (.admitted(let isRetry), .admitted(let isProbe)):
            return Admission(origin: origin, client: client, isProbe: isProbe, isRetry: isRetry)
        }
    }

    /// The error that a fetch for any client would get now; nil where it would be admitted.
    func refusal(of origin: SourceURL.Origin, at now: Int64) -> PipelineError? {
        state.withLock { state in
            // A copy, so that nothing is counted as a probe.
            guard var breaker = state.ring.peek(.connecting(origin)),
                case .refused(let seconds) = breaker.admit(at: now, by: state.rules)
            else { return nil }
            return .hostUnavailable(retryAfter: Int(seconds))
        }
    }

    /// Origins that are left alone now: by all clients because they can't be connected to, or by one client that they have
    /// refused with 429.
    package func refused(at now: Int64) -> [RefusedOrigin] {
        state.withLock { state in
            state.ring.keys.compactMap { key in
                guard var breaker = state.ring.peek(key),
                    case .refused(let seconds) = breaker.admit(at: now, by: state.rules)
                else { return nil }
                return switch key {
                case .connecting(let origin):
                    RefusedOrigin(origin: origin, isForOneClient: false, seconds: seconds)
                case .asking(let origin, _):
                    RefusedOrigin(origin: origin, isForOneClient: true, seconds: seconds)
                }
            }
        }
    }

    /// Takes a fetch's end into account; nil is success.
    ///
    /// An origin that redirects works, and what comes of the next hop is said of the next hop's origin.
    /// - Parameter lastHop: the origin that the last redirect led to.
    func report(
        _ admission: Admission, _ failure: PipelineError?, lastHop: SourceURL.Origin? = nil, at now: Int64
    ) {
        let last = lastHop ?? admission.origin
        let hasRedirected = last != admission.origin
        state.withLock { state in
            let first = (Key.connecting(admission.origin), Key.asking(admission.origin, admission.client))
            if hasRedirected {
                state.forget(first.0)
                state.forget(first.1)
            }
            switch failure?.row.originState ?? .answered {
            case .answered where failure?.upstreamStatus == 429:
                state.forget(.connecting(last))
                state.fail(
                    .asking(last, admission.client), isProbe: admission.isRetry && !hasRedirected, at: now,
                    random,
                    atLeast: Int64(failure?.retryAfter ?? 0))
            case .answered:
                state.forget(.connecting(last))
                state.forget(.asking(last, admission.client))
            case .connected:
                state.forget(.connecting(last))
                if admission.isRetry, !hasRedirected { state.withdrawProbe(first.1) }
            case .notConnected:
                state.fail(.connecting(last), isProbe: admission.isProbe && !hasRedirected, at: now, random)
                if admission.isRetry, !hasRedirected { state.withdrawProbe(first.1) }
            case .unknown:
                if admission.isProbe, !hasRedirected { state.withdrawProbe(first.0) }
                if admission.isRetry, !hasRedirected { state.withdrawProbe(first.1) }
            }
        }
    }
}

extension HostBreakers.State {
    fileprivate mutating func fail(
        _ key: HostBreakers.Key, isProbe: Bool, at now: Int64, _ random: () -> Double,
        atLeast least: Int64 = 0
    ) {
        let known = ring.peek(key)
        var breaker = known ?? CircuitBreaker()
        let wasOpen = breaker.isOpen
        breaker.fail(isProbe: isProbe, at: now, by: rules, random: random(), atLeast: least)
        if breaker.isOpen, !wasOpen { open += 1 }
        guard known == nil else {
            _ = ring.replace(breaker, for: key)
            return
        }
        shrink(to: rules.maxHosts - 1)
        _ = ring.insert(breaker, for: key, cost: 1)
    }
}
