// SPDX-License-Identifier: Apache-2.0

package import Bodies
package import Cache
package import Primitives
import Request
import Synchronization
import URLs

/// The failures of sources and results that are not tried again for a while (SDWebImage: failedURLs).
///
/// Decides which failures are remembered, under which key, and for how long. A source has the key of its whole URL here, also
/// where the caches' keys leave out parameters: an origin may refuse a request because of them, and a client may choose them
/// freely. Safe from any thread; times are seconds since 1970.
package final class FailedURLs: Sendable {
    private struct State {
        var table: FailureTable
        var hits: [FailureClass: Int] = [:]
        var configuration: FailedURLsConfiguration
    }

    private let state: Mutex<State>
    private let share: MemoryShare
    private let random: @Sendable () -> Double
    /// Sources that are decoded once more because a result has failed; one that can be decoded is paused.
    private let verifications: Mutex<SourceLimiter>
    /// Origins that can't be connected to, or that a client has asked too often.
    package let hosts: HostBreakers

    /// Remembers no failure yet.
    /// - Parameters:
    ///   - share: how many bytes of failures it may hold.
    ///   - random: chance, from 0 up to 1, for the jitter of times.
    package init(
        configuration: FailedURLsConfiguration, share: MemoryShare = MemoryShare(bytes: 16 << 20),
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.share = share
        self.random = random
        state = Mutex(
            State(table: FailureTable(maxEntries: configuration.maxEntries), configuration: configuration))
        hosts = HostBreakers(rules: configuration.breaker, random: random)
        verifications = Mutex(
            SourceLimiter(limit: Self.maxVerifications, capacity: configuration.maxEntries))
    }

    /// Most verifications at once; what fails beyond that is not looked into.
    private static let maxVerifications = 8

    /// The longest text of a source that is stored for listings, in bytes; a longer one is cut.
    private static let maxTextBytes = 1_024

    /// Applies other settings from now on. Failures that are already remembered keep their expiry.
    package func adopt(_ configuration: FailedURLsConfiguration) {
        change { state in
            state.configuration = configuration
            state.table.resize(maxEntries: configuration.maxEntries)
        }
        hosts.adopt(configuration.breaker)
        verifications.withLock { $0.resize(capacity: configuration.maxEntries) }
    }

    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, bytes) = state.withLock { state in
            let before = state.table.bytes
            return (body(&state), state.table.bytes - before)
        }
        share.change(by: bytes)
        return result
    }

    /// What is remembered of a source's or result's key, counted as a hit; nil when it may be tried.
    /// - Parameter content: the source's bytes: a failure of others does not count. Nil where they are not known.
    package func failure(of key: CacheKey, _ content: ContentHash? = nil, at now: Int64) -> PipelineError? {
        state.withLock { state in
            guard let found = state.table.lookUp(key, at: now), found.failure.concerns(content) else {
                return nil
            }
            state.hits[found.failureClass, default: 0] += 1
            return found.failure.with(secondsLeft: found.end - now)
        }
    }

    /// The same without a hit.
    private func peek(
        _ key: CacheKey, _ content: ContentHash? = nil, at now: Int64
    ) -> RememberedFailure? {
        state.withLock { $0.table.peek(key, at: now) }.flatMap { $0.failure.concerns(content) ? $0 : nil }
    }

    /// What is remembered of a request's source; nil when it may be tried.
    ///
    /// `too_many_pixels` does not apply to requests with `scale-down-large`, and no failure of a decoder to those that need
    /// none: one client's transform must not take the picture from the others.
    func failure(
        ofSourceOf request: ImageRequest, _ history: FetchContext.History?, _ content: ContentHash?,
        at now: Int64
    ) -> PipelineError? {
        let key = refusingKey(ofSource: request.fullKey, history, at: now)
        return failure(of: key, content, at: now).flatMap { $0.concerns(request) ? $0 : nil }
    }

    /// What is remembered of a request's source and of its result, with the seconds that are left; counts no hit.
    func explained(
        _ request: ImageRequest, _ history: FetchContext.History? = nil, _ content: ContentHash?,
        at now: Int64
    ) -> (source: ImageExplanation.Remembered?, result: ImageExplanation.Remembered?) {
        func remembered(_ key: CacheKey) -> ImageExplanation.Remembered? {
            peek(key, content, at: now).map {
                ImageExplanation.Remembered(error: $0.failure, seconds: max(1, $0.end - now))
            }
        }
        let source = remembered(refusingKey(ofSource: request.fullKey, history, at: now))
        return (source.flatMap { $0.error.concerns(request) ? $0 : nil }, remembered(request.resultKey))
    }

    /// Seconds until the failure of `key` is forgotten, for `max-age`.
    package func remaining(of key: CacheKey, at now: Int64) -> Int64? {
        peek(key, at: now).map { $0.end - now }
    }

    /// The same for a source, where a request that names these proxies is refused by what refuses all others, too: a cache
    /// in front may then give them the same answer.
    package func remaining(
        ofSource source: CacheKey, _ history: FetchContext.History?, at now: Int64
    ) -> Int64? {
        guard history == nil || refusesAll(source, at: now) else { return nil }
        return remaining(of: source, at: now)
    }

    /// The key of the failure that refuses a request for a source, if one does.
    private func refusingKey(
        ofSource source: CacheKey, _ history: FetchContext.History?, at now: Int64
    ) -> CacheKey {
        history == nil || refusesAll(source, at: now) ? source : key(ofSource: source, history)
    }

    /// Whether a request that names no proxies has failed, and one that names any would fail equally.
    private func refusesAll(_ source: CacheKey, at now: Int64) -> Bool {
        peek(source, at: now).map { $0.failureClass != .clientError } ?? false
    }

    /// The key that the failure of a source's fetch is remembered under.
    ///
    /// An origin may refuse a request because of the proxies that the request names: only others that name the same
    /// proxies are then refused.
    private func key(ofSource source: CacheKey, _ history: FetchContext.History?) -> CacheKey {
        guard let history else { return source }
        return CacheKey(canonicalText: "\(history.text)\n\(source)")
    }

    /// Remembers `failure` where its row in the table says so, and no longer than `seconds`.
    func remember(
        _ failure: PipelineError, of request: ImageRequest, _ history: FetchContext.History?,
        atMost seconds: Int64? = nil, at now: Int64
    ) {
        // What can't be shrunk says nothing of the source to others.
        let isOfResult = failure.row == PipelineError.tooManyPixels.row && request.shrinksLarge
        remember(
            failure, source: request.sourceKey, as: request.fullKey, result: request.resultKey,
            request.source.normalized, history, isOfResult: isOfResult, atMost: seconds, at: now)
    }

    func remember(
        _ failure: PipelineError, source: CacheKey, as full: CacheKey, result: CacheKey, _ text: String,
        _ history: FetchContext.History?, isOfResult: Bool, atMost seconds: Int64?, at now: Int64
    ) {
        guard let memory = failure.row.memory else { return }
        let key =
            memory.scope == .source && !isOfResult ? self.key(ofSource: full, history) : result
        let most = memory.kind.goesByFields ? seconds : failure.retryAfter.map { Int64($0) }
        remember(key, failure, as: memory.kind, ofSource: source, text, atMost: most, at: now)
    }

    /// Remembers a failure for the time of its class, in place of an earlier one; with no time the earlier one is forgotten, too.
    ///
    /// Jitter shortens the time, so that what failed together is not retried together.
    private func remember(
        _ key: CacheKey, _ failure: PipelineError, as failureClass: FailureClass, ofSource source: CacheKey,
        _ text: String, atMost most: Int64? = nil, at now: Int64
    ) {
        let (maxBytes, chance) = (share.limit, random())
        change { state in
            let longest = min(
                Int64(failureClass.span(in: state.configuration).seconds), most ?? .max)
            guard longest > 0 else { return _ = state.table.remove(key) }
            let part = 1 - failureClass.jitter(in: state.configuration) * chance
            let seconds = max(1, Int64((Double(longest) * part).rounded()))
            let entry = RememberedFailure(
                key: key, source: source, text: Self.cut(text), failure: failure, failureClass: failureClass,
                start: now, end: now + seconds)
            state.table.insert(entry, maxBytes: maxBytes)
        }
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > maxTextBytes else { return text }
        // A character that the cut divides is replaced.
        return String(decoding: text.utf8.prefix(maxTextBytes), as: UTF8.self) + "…"
    }

    // MARK: - Sources that a result has failed of

    /// What the source's own decoding has shown.
    enum Verdict {
        /// It can be decoded: the plan was at fault.
        case sound
        /// It fails by itself.
        case failed(PipelineError)
        /// Nothing: the job did not run, or the bytes were replaced meanwhile.
        case unknown
    }

    /// Whether the source is to be decoded with the cheapest plan now; `endVerification` reports the end.
    /// - Parameter full: the key of its whole URL.
    func beginVerification(
        of source: CacheKey, as full: CacheKey, _ content: ContentHash?, _ history: FetchContext.History?,
        at now: Int64
    ) -> Bool {
        // With no time for such failures there is nothing to find out.
        let key = refusingKey(ofSource: full, history, at: now)
        guard soundTime > 0, peek(key, content, at: now) == nil else { return false }
        return verifications.withLock { $0.begin(source, at: now) }
    }

    /// Refuses a source that fails by itself, and pauses the check of one that does not, for as long as a bad
    /// image is remembered.
    /// - Parameter full: the key of its whole URL.
    func endVerification(
        of source: CacheKey, as full: CacheKey, _ text: String, _ verdict: Verdict,
        _ history: FetchContext.History?, at now: Int64
    ) {
        var pause: Int64 = 0
        switch verdict {
        case .sound: pause = soundTime
        case .failed(let failure):
            remember(
                key(ofSource: full, history), failure, as: .badImage, ofSource: source, text,
                at: now)
        case .unknown: break
        }
        verifications.withLock { $0.end(source, pausedFor: pause, at: now) }
    }

    /// Seconds for which a source that was decoded after a failure counts as sound.
    private var soundTime: Int64 { Int64(state.withLock { $0.configuration.ttl.badImage.seconds }) }

    // MARK: - For operators

    /// What is remembered of one source and its results, or of all, at most `limit`; those first that end soonest. O(n log n).
    package func list(source: CacheKey? = nil, limit: Int, at now: Int64) -> [RememberedFailure] {
        let found = change { $0.table.all(at: now) }.filter { source == nil || $0.source == source }
        return Array(found.sorted { $0.end < $1.end }.prefix(limit))
    }

    /// Forgets what is remembered of sources and their results; returns how many failures that were. O(n), however many sources.
    @discardableResult
    package func clear(sources: Set<CacheKey>, at now: Int64) -> Int {
        verifications.withLock { for source in sources { $0.forget(source) } }
        return forget(at: now) { sources.contains($0.source) }
    }

    /// Forgets the failures of sources whose URL begins with `prefix`; returns how many those were.
    package func clear(prefix: String, at now: Int64) -> Int {
        forget(at: now) { $0.text.hasPrefix(prefix) }
    }

    /// Forgets all failures; returns how many those were. Breakers go their own way.
    @discardableResult
    package func clear(at now: Int64) -> Int {
        verifications.withLock { $0.forgetAll() }
        return forget(at: now) { _ in true }
    }

    private func forget(at now: Int64, where isForgotten: (RememberedFailure) -> Bool) -> Int {
        change { state in
            state.table.all(at: now).count { isForgotten($0) && state.table.remove($0.key) }
        }
    }

    /// How many failures are remembered, by class, for the metrics; O(n).
    package func counts(at now: Int64) -> [FailureClass: Int] {
        change { $0.table.all(at: now) }.reduce(into: [:]) { $0[$1.failureClass, default: 0] += 1 }
    }

    /// How many look-ups found a failure, by its class, for the metrics.
    package var hits: [FailureClass: Int] { state.withLock(\.hits) }

    /// Forgets a failure, such as that of a key that has just succeeded; false if there was none.
    @discardableResult
    func forget(_ key: CacheKey) -> Bool { change { $0.table.remove(key) } }

    /// Forgets the failure that refuses requests for a source which name these proxies: it has just been fetched.
    func forget(source: CacheKey, _ history: FetchContext.History?, at now: Int64) {
        forget(refusingKey(ofSource: source, history, at: now))
        if history != nil { forget(key(ofSource: source, history)) }
    }
}

extension PipelineError {
    /// Whether what is remembered of a source refuses this request for it.
    fileprivate func concerns(_ request: ImageRequest) -> Bool {
        if row == Self.tooManyPixels.row, request.shrinksLarge { return false }
        return !isOfDecoding || request.plan != nil
    }
}
