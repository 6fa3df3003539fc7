// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The blacklist as the pipeline uses it (SDWebImage: failedURLs): which failures are kept, where, and for how long.
public final class FailureMemory: Sendable {
    private let failed: FailedURLs<PipelineError>
    private let slowSources: Mutex<SlowSources>
    /// Origins that can't be reached.
    let hosts: HostBreakers

    /// Different results that must time out before the source itself is refused.
    private static let timeoutsPerSource = 3

    /// An empty blacklist.
    /// - Parameters:
    ///   - share: how many bytes of failures it may hold.
    ///   - random: chance, from 0 up to 1, for the jitter of times.
    public init(
        configuration: FailedURLsConfiguration, share: MemoryShare = MemoryShare(bytes: 16 << 20),
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        failed = FailedURLs(configuration: configuration, share: share, random: random)
        hosts = HostBreakers(rules: configuration.breaker, random: random)
        slowSources = Mutex(
            SlowSources(capacity: configuration.maxEntries, mostResults: Self.timeoutsPerSource))
    }

    /// Goes by other settings from now on; what is remembered stays so for as long as it was to be.
    public func adopt(_ configuration: FailedURLsConfiguration) {
        failed.adopt(configuration)
        hosts.adopt(configuration.breaker)
        slowSources.withLock { $0.resize(capacity: configuration.maxEntries) }
    }

    /// What is remembered of a source's or result's key; nil when it may be tried.
    public func failure(of key: CacheKey, at now: Int64) -> PipelineError? {
        failed.lookup(key, at: now)?.failure
    }

    /// What is remembered of a request's source; nil when it may be tried.
    ///
    /// That it is too large refuses only those who do not want it shrunk.
    func failure(ofSourceOf request: ImageRequest, at now: Int64) -> PipelineError? {
        let failure = failure(of: request.sourceKey, at: now)
        return failure == .tooManyPixels && request.shrinksLarge ? nil : failure
    }

    /// Seconds until the failure of `key` is forgotten, for `max-age`.
    public func remaining(of key: CacheKey, at now: Int64) -> Int64? {
        failed.remaining(of: key, at: now)
    }

    /// Keeps `failure` where its row in the table says so, and no longer than `seconds`.
    func remember(
        _ failure: PipelineError, of request: ImageRequest, atMost seconds: Int64? = nil, at now: Int64
    ) {
        // What can't be shrunk says nothing of the source to others.
        let isOfResult = failure == .tooManyPixels && request.shrinksLarge
        remember(
            failure, source: request.sourceKey, result: request.resultKey, request.source.normalized,
            isOfResult: isOfResult, atMost: seconds, at: now)
    }

    func remember(
        _ failure: PipelineError, source: CacheKey, result: CacheKey, _ text: String = "",
        isOfResult: Bool = false, atMost seconds: Int64? = nil, at now: Int64
    ) {
        guard let memory = failure.disposition.memory else { return }
        // What a client says of its way may have had the origin refuse it: others must not suffer. That a picture is
        // missing or damaged has other reasons; behind a proxy that names itself every request says something.
        if case .upstreamStatus = failure, FetchContext.current.hasHistory { return }
        var key = memory.scope == .source && !isOfResult ? source : result
        if failure == .transformTimeout {
            let slow = slowSources.withLock { $0.add(result, of: source) }
            if slow >= Self.timeoutsPerSource { key = source }
        }
        failed.remember(
            key, failure, as: memory.kind, ofSource: source, text, atMost: seconds, at: now)
    }

    /// One remembered failure, for a listing.
    public typealias Listed = FailedURLs<PipelineError>.Listed

    /// What is remembered of one source and its results, or of all, at most `limit`; those first that end soonest.
    public func list(source: CacheKey? = nil, limit: Int, at now: Int64) -> [Listed] {
        failed.list(source: source, limit: limit, at: now)
    }

    /// Forgets what is remembered of a source and its results; returns how many failures that were.
    @discardableResult
    public func clear(source: CacheKey) -> Int {
        slowSources.withLock { $0.remove(source) }
        return failed.forgetAll(ofSource: source)
    }

    /// Forgets what is remembered under one key; returns how many failures that were.
    @discardableResult
    public func clear(key: CacheKey) -> Int { failed.forget(key) ? 1 : 0 }

    /// Forgets all failures; returns how many those were. Breakers go their own way.
    @discardableResult
    public func clear() -> Int {
        slowSources.withLock { $0.removeAll() }
        return failed.forgetAll()
    }

    /// How many failures are remembered, and how many look-ups found one, by class, for the metrics.
    public func counts(at now: Int64) -> (remembered: [FailureClass: Int], hits: [FailureClass: Int]) {
        (failed.counts(at: now), failed.hits)
    }

    /// Origins that are left alone now, for the metrics.
    public var openHosts: Int { hosts.openCount }

    /// Forgets a failure: the key has just succeeded.
    func forget(_ key: CacheKey) {
        failed.forget(key)
    }
}

/// Which results of a source timed out: more than a few of them, and the source is to blame. Bounded; the oldest goes.
private struct SlowSources {
    private(set) var capacity: Int
    /// Results that are told apart for one source; further ones change nothing.
    let mostResults: Int
    private var results: [CacheKey: Set<CacheKey>] = [:]
    private var order: [CacheKey] = []

    init(capacity: Int, mostResults: Int) {
        self.capacity = max(1, capacity)
        self.mostResults = mostResults
    }

    mutating func resize(capacity: Int) {
        self.capacity = max(1, capacity)
        while order.count > self.capacity { results[order.removeFirst()] = nil }
    }

    /// Adds one; returns how many different results of this source have timed out.
    mutating func add(_ result: CacheKey, of source: CacheKey) -> Int {
        if results[source] == nil {
            order.append(source)
            if order.count > capacity { results[order.removeFirst()] = nil }
        }
        var slow = results[source] ?? []
        if slow.count < mostResults { slow.insert(result) }
        results[source] = slow
        return slow.count
    }

    mutating func remove(_ source: CacheKey) {
        guard results.removeValue(forKey: source) != nil else { return }
        order.removeAll { $0 == source }
    }

    mutating func removeAll() {
        self = SlowSources(capacity: capacity, mostResults: mostResults)
    }
}
