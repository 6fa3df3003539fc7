// SPDX-License-Identifier: Apache-2.0

import Origins
import Primitives
import Synchronization

/// The keys of one source: kept, and refreshed before they expire. Safe from any task.
///
/// One refresh runs at a time. While it runs, and after it has failed, requests use the keys from before as long as they are
/// valid; a failed refresh is repeated after a pause that doubles.
final class AWSKeyProvider: Sendable {
    private struct State {
        var keys: AWSKeys?
        /// When keys are requested next, in seconds since 1970.
        var due = Int64.min
        var failures = 0
        var failure = "not requested yet"
        /// Whether the store has refused the keys, and when a refusal last caused an early request for new
        /// ones.
        var isRefused = false
        var refusedAt = Int64.min
        var refresh: Task<Void, Never>?
    }

    private let request: AWSKeyRequest
    /// A queue of its own: a service that does not answer delays no other source.
    private let queue = IOQueue<LoadError>(
        label: "keys", maxRunning: 1, maxWaiting: 1, overloaded: .queueFull)
    private let clock: @Sendable () -> Int64
    private let counters: LoaderCounters
    private let state = Mutex(State())

    /// How long before they expire keys are refreshed; for short-lived keys, half their life. Seconds.
    private static let margin: Int64 = 300
    /// Requests wait for new keys if the present ones expire within this time. Seconds.
    private static let waitMargin: Int64 = 60
    /// How often files are read again, in seconds.
    private static let fileInterval: Int64 = 5
    /// The longest pause after a failure, in seconds.
    private static let longestPause: Int64 = 60
    /// The shortest time between two early requests for keys, in seconds.
    private static let refusalInterval: Int64 = 60

    /// - Parameter clock: the time in seconds since 1970.
    init(
        _ source: AWSKeySource, proxy: String, timeout: Int, counters: LoaderCounters,
        clock: @escaping @Sendable () -> Int64
    ) {
        request = AWSKeyRequest(source: source, proxy: proxy, timeout: timeout)
        (self.counters, self.clock) = (counters, clock)
    }

    /// Returns valid keys.
    /// - Throws: `noKeys`, with the source's name and why it gave none.
    func current() async throws(LoadError) -> AWSKeys {
        let now = clock()
        let (keys, refresh) = state.withLock { state -> (AWSKeys?, Task<Void, Never>?) in
            if now >= state.due, state.refresh == nil {
                state.refresh = Task { await self.refresh() }
            }
            let mayWait = state.isRefused || state.keys?.expiry.map { $0 - now < Self.waitMargin } ?? true
            return (state.keys, mayWait ? state.refresh : nil)
        }
        guard let refresh else { return try valid(keys, at: now) }
        await refresh.value
        return try valid(state.withLock(\.keys), at: clock())
    }

    private func valid(_ keys: AWSKeys?, at now: Int64) throws(LoadError) -> AWSKeys {
        if let keys, keys.isValid(at: now) { return keys }
        throw .noKeys("\(request.name): \(state.withLock(\.failure))")
    }

    /// Requests new keys soon, since the store has refused a request that these have signed.
    func reportRefusal(of keys: AWSKeys) {
        let now = clock()
        state.withLock { state in
            guard state.keys == keys, now - Self.refusalInterval >= state.refusedAt else { return }
            (state.isRefused, state.refusedAt, state.due) = (true, now, min(state.due, now))
        }
    }

    private func refresh() async {
        do throws(LoadError) {
            let keys = try await queue.run { [request] () throws(LoadError) in
                do throws(AWSKeyFailure) {
                    return try request.run()
                } catch {
                    throw .noKeys(error.reason)
                }
            }
            take(keys, at: clock())
        } catch {
            let reason = if case .noKeys(let reason) = error { reason } else { "too much waits already" }
            fail(reason, at: clock())
        }
    }

    private func take(_ keys: AWSKeys, at now: Int64) {
        guard keys.isValid(at: now) else { return fail("its keys have expired already", at: now) }
        counters.count(\.keyRefreshes)
        state.withLock { state in
            state.keys = keys
            state.due =
                keys.expiry.map { $0 - min(Self.margin, ($0 - now) / 2) } ?? now + Self.fileInterval
            (state.failures, state.isRefused, state.refresh) = (0, false, nil)
        }
    }

    private func fail(_ reason: String, at now: Int64) {
        counters.count(\.failedKeyRefreshes)
        state.withLock { state in
            let pause = min(Self.longestPause, 1 << Int64(min(state.failures, 6)))
            state.due = now + pause
            state.failures += 1
            (state.failure, state.isRefused, state.refresh) = (reason, false, nil)
        }
    }
}

/// The providers of a loader, by source: rules with equal sources share keys, and so do the rules before and after a reload.
final class AWSKeyProviders: Sendable {
    private let proxy: String
    private let timeout: Int
    private let counters: LoaderCounters
    private let clock: @Sendable () -> Int64
    private let providers = Mutex<[AWSKeySource: AWSKeyProvider]>([:])

    /// - Parameter timeout: the maximum time of an exchange with a service, in milliseconds.
    init(
        proxy: String, timeout: Int = ServiceExchange.timeout, counters: LoaderCounters,
        clock: @escaping @Sendable () -> Int64
    ) {
        (self.proxy, self.timeout, self.counters, self.clock) = (proxy, timeout, counters, clock)
    }

    func provider(of source: AWSKeySource) -> AWSKeyProvider {
        providers.withLock { providers in
            if let provider = providers[source] { return provider }
            let provider = AWSKeyProvider(
                source, proxy: proxy, timeout: timeout, counters: counters, clock: clock)
            providers[source] = provider
            return provider
        }
    }
}
