// SPDX-License-Identifier: Apache-2.0

package import Bodies
package import Cache
package import Freshness
import Imaging
package import Loading
import Origins
package import Primitives
import Synchronization

/// The tier that nodes share: records, originals and results as objects of a bucket, after memory and disk and before the
/// origin.
///
/// A cache like the others: what it has is checked, a failure is a miss, the last writer wins, and no node locks anything.
/// Every age is counted by the store's clock. Safe from any task.
package final class SharedTier: Sendable {
    package let store: ObjectStore
    package let journal: PurgeJournal
    package let configuration: SharedConfiguration
    let counters: SharedCounters
    let uploads: UploadQueue
    let sentRecords = SentRecords()
    private let breaker = Mutex(CircuitBreaker())
    /// When the tier was created, by `monotonic`: the breaker counts seconds since then.
    private let start: ContinuousClock.Instant
    private let reads = Atomic(0)
    private let maxBytes: Int
    private let clock: @Sendable () -> WallTime
    private let monotonic: @Sendable () -> ContinuousClock.Instant
    /// What its pauses and time limits are waited by.
    let timer: any Clock<Duration>
    /// The time by this machine's clock.
    var now: WallTime { clock() }

    /// Creates the tier; nothing is asked yet.
    ///
    /// - Parameters:
    ///   - configuration: the settings.
    ///   - store: the bucket.
    ///   - maxEntryBytes: the length of the largest body.
    ///   - clock: this machine's time.
    ///   - monotonic: a clock that is never set.
    ///   - timer: what pauses and time limits are waited by.
    ///   - unwritten: the file of purges that the store does not have yet; nil to hold them in memory alone.
    package init(
        _ configuration: SharedConfiguration, store: ObjectStore, maxEntryBytes: Int,
        clock: @escaping @Sendable () -> WallTime = SystemTime.now,
        monotonic: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        timer: any Clock<Duration> = ContinuousClock(), unwritten: String? = nil
    ) {
        (self.configuration, self.store, counters) = (configuration, store, store.counters)
        maxBytes = maxEntryBytes + PortableEntry.maxHeaderBytes
        (self.clock, self.monotonic, self.timer) = (clock, monotonic, timer)
        start = monotonic()
        journal = PurgeJournal(
            store: store, configuration: configuration, unwritten: unwritten, clock: monotonic)
        uploads = UploadQueue(
            maxBytes: configuration.queueBytes.bytes, minUses: configuration.minUses,
            minCost: configuration.minCost.milliseconds)
    }

    /// The settings of the loader that the store is asked with: a thread, a queue and connections of its own, so that the
    /// store delays no origin, nor the reverse.
    package static func loaderConfiguration(
        _ configuration: SharedConfiguration, maxEntryBytes: Int
    ) -> FetchConfiguration {
        var fetch = FetchConfiguration()
        fetch.maxConcurrent = configuration.maxReads + configuration.maxWrites + otherExchanges
        fetch.maxPerHost = fetch.maxConcurrent
        fetch.clientShare = 1
        fetch.queue = fetch.maxConcurrent
        fetch.connectTimeout = .seconds(5)
        fetch.firstByteTimeout = .seconds(30)
        fetch.totalTimeout = .minutes(2)
        fetch.retries = 0
        fetch.maxRedirects = 0
        fetch.maxBytes = ByteCount(max(maxEntryBytes + PortableEntry.maxHeaderBytes, 8 << 20))
        return fetch
    }

    /// Exchanges beside look-ups and uploads: the journal, purges, sweeps, other nodes.
    private static let otherExchanges = 16

    // MARK: - Looking up

    /// What the tier has of a picture: the record of its source, and, requested at the same time, the picture itself, whatever
    /// content it was made from: the caller compares that with what it knows of the source in the end.
    ///
    /// Nil for what it has not, can't say in time, or what was purged.
    package func lookUp(
        _ subject: SharedSubject, withResult: Bool
    ) async -> (record: SourceRecord?, result: PortableEntry?) {
        async let record = record(of: subject)
        async let result = withResult ? self.result(of: subject, madeFrom: nil) : nil
        return await (record, result)
    }

    /// The record of a picture's source, its times translated to this machine's clock; nil if there is none to be used.
    package func record(of subject: SharedSubject) async -> SourceRecord? {
        let record = await get(
            ObjectName.record(of: subject.source), atMost: PortableRecord.maxBytes,
            replacedBy: [subject.source, subject.result]
        ) {
            object -> SourceRecord? in
            guard let found = PortableRecord(object.content)?.record, found.key == subject.source,
                found.keyText == subject.sourceText, !found.reuse.directives.forbidStoring,
                isCurrent(object, subject)
            else { return nil }
            var record = found
            // The time in the store by its own clock, and what had passed before by that of the node that stored it.
            record.reuse.responseTime = now - .seconds(Int(object.age + object.ageWhenStored))
            return record
        }
        // The next record is uploaded, even if it equals the last one sent.
        if record == nil { sentRecords.forget(subject.source) }
        return record
    }

    /// A picture that was made from some content.
    /// - Parameter hash: of the content; nil for any.
    package func result(of subject: SharedSubject, madeFrom hash: ContentHash?) async -> PortableEntry? {
        let found = await get(
            ObjectName.result(subject.result, of: subject.source), atMost: maxBytes,
            replacedBy: [subject.result]
        ) {
            object -> PortableEntry? in
            guard let entry = PortableEntry(object.content), entry.description.kind.isResult,
                entry.description.key == subject.result, entry.description.keyText == subject.resultText,
                entry.description.sourceKey == subject.source,
                hash == nil || entry.description.sourceHash == hash,
                entry.description.stage != .cheapest, isCurrent(object, subject)
            else { return nil }
            // By this machine's clock, whatever the node that made it wrote there.
            var translated = entry
            translated.description.storedAt = now.seconds - object.age - object.ageWhenStored
            return translated
        }
        counters.count(lookUpOf: .result, isHit: found != nil)
        return found
    }

    /// An original, by its content; described as this source's.
    package func original(_ hash: ContentHash, of subject: SharedSubject) async -> PortableEntry? {
        let found = await get(ObjectName.original(hash), atMost: maxBytes, replacedBy: [subject.source]) {
            object -> PortableEntry? in
            guard let entry = PortableEntry(object.content), entry.description.kind == .original,
                entry.description.contentHash == hash
            else { return nil }
            var description = entry.description
            description.name(subject.source, subject.sourceText)
            (description.sourceKey, description.sourceHash) = (subject.source, hash)
            description.storedAt = now.seconds
            return PortableEntry(description, body: entry.body)
        }
        counters.count(lookUpOf: .original, isHit: found != nil)
        return found
    }

    /// Whether a picture that another node fetched so many seconds ago is from before a purge that concerns it.
    package func isPurged(_ subject: SharedSubject, ofAge age: Int64) -> Bool {
        journal.isPurged(subject, tags: [], madeAt: store.clock.now - age)
    }

    /// Whether an object is neither too old nor from before a purge.
    private func isCurrent(_ object: StoredObject, _ subject: SharedSubject) -> Bool {
        object.age <= Int64(configuration.maxAge.seconds)
            && !journal.isPurged(subject, tags: object.tags, madeAt: object.storedAt - object.ageWhenStored)
    }

    /// Gets an object and reads it, within `shared.timeout`.
    /// - Parameter keys: those of what replaces the object where that can't be used; uploaded the next time it is made or
    ///   fetched.
    private func get<Value: Sendable>(
        _ name: String, atMost limit: Int, replacedBy keys: [CacheKey],
        _ read: @Sendable (StoredObject) -> Value?
    ) async -> Value? {
        let reading = reads.wrappingAdd(1, ordering: .relaxed).newValue
        defer { reads.wrappingSubtract(1, ordering: .relaxed) }
        guard journal.isCurrent, reading <= configuration.maxReads else {
            counters.count(.get, .skipped)
            return nil
        }
        let object: StoredObject?
        do throws(ExchangeError) {
            object = try await withBreaker {
                [store, configuration, timer] () async throws(ExchangeError) in
                try await Deadline.run(within: configuration.timeout.duration, by: timer) {
                    () async throws(ExchangeError) in try await store.get(name, atMost: limit, isLookUp: true)
                }
            }
        } catch {
            counters.count(.get, error.outcome)
            return nil
        }
        guard let object else {
            counters.count(.get, .missing)
            return nil
        }
        let value = read(object)
        counters.count(.get, value == nil ? .unusable : .ok, bytes: object.content.count)
        if value == nil { uploads.noteUnusable(keys) }
        return value
    }

    /// When the store is left alone: not a setting.
    static let breakerRules = {
        var rules = FailedURLsConfiguration.Breaker()
        (rules.failures, rules.pause, rules.maximum) = (5, .seconds(1), .seconds(30))
        return rules
    }()

    /// Runs an exchange unless the store is left alone.
    @discardableResult
    func withBreaker<Value: Sendable>(
        _ exchange: () async throws(ExchangeError) -> Value
    ) async throws(ExchangeError) -> Value {
        let began = (monotonic() - start).components.seconds
        let admission = breaker.withLock { $0.admit(at: began, by: Self.breakerRules) }
        guard case .admitted(let isProbe) = admission else { throw .breakerOpen }
        func end(_ hasFailed: Bool?) {
            let now = (monotonic() - start).components.seconds
            breaker.withLock { breaker in
                switch hasFailed {
                case true?: breaker.fail(isProbe: isProbe, at: now, by: Self.breakerRules, random: 0)
                case false?: breaker = CircuitBreaker()
                case nil: if isProbe { breaker.withdrawProbe() }
                }
            }
        }
        do throws(ExchangeError) {
            let value = try await exchange()
            end(false)
            return value
        } catch {
            end(error.isOfStore)
            throw error
        }
    }

    // MARK: - Watching

    /// What it has done and holds.
    package var statistics: SharedStatistics {
        var statistics = counters.snapshot
        (statistics.queueBytes, statistics.queueLimit) = (uploads.byteCount, configuration.queueBytes.bytes)
        statistics.dropped = uploads.dropped
        statistics.isBreakerOpen = breaker.withLock { $0.isOpen }
        (statistics.journalAge, statistics.purges) = (journal.age, journal.count)
        return statistics
    }
}

extension StoredObject {
    /// Seconds that had passed since it was fetched or made when it was stored; 2⁴⁰ for more.
    var ageWhenStored: Int64 { min(max(0, metadata["age"].flatMap { Int64($0) } ?? 0), 1 << 40) }

    /// The tags under which it was stored.
    var tags: [String] {
        (metadata["tags"] ?? "").split(separator: ",").compactMap { text in
            Base64.decodeURL(text.utf8).flatMap { String(validOctets: $0[...]) }
        }
    }

    /// The fields for an object that was made some seconds ago.
    static func metadata(age: Int64, tags: [String]) -> [String: String] {
        var metadata = ["age": "\(max(0, age))"]
        if !tags.isEmpty {
            metadata["tags"] = tags.map { Base64.encodeURL($0.utf8) }.joined(separator: ",")
        }
        return metadata
    }
}
