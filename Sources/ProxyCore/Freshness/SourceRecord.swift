// SPDX-License-Identifier: Apache-2.0

package import Bodies
package import Imaging
package import Primitives

/// The facts about a source: freshness, validators, content. Outlives the source's body, and is shared by all
/// its results.
///
/// Freshness belongs here alone: results only name the content hash they were
/// made from.
package struct SourceRecord: Sendable, Hashable {
    /// The source's key.
    package var key: CacheKey
    /// The canonical text behind `key`: the normalised URL after the cache-key filter.
    package var keyText: String
    /// The SHA-256 of the body.
    package var contentHash: ContentHash
    /// The body's length in bytes.
    package var byteCount: Int
    /// The body's format, from its magic bytes.
    package var format: ImageFormat
    /// What decides whether and how long the response may be reused.
    package var reuse: FreshnessPolicy.Verdict
    /// The digest of the URL that redirects led to, whose validators these are; nil where there were none.
    package var finalURL: CacheKey?
    /// Whether it is the short form in an entry's file, without entity tag and `reuseFields`: it answers requests, and is
    /// neither saved, nor uploaded, nor confirmed by a 304.
    package var isPartial = false

    /// Directives of a stored response that outlive it.
    package struct Directives: OptionSet, Sendable, Hashable {
        /// The set as bits; their meaning is stored and never changes.
        package let rawValue: UInt32

        /// Wraps stored bits.
        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }
        /// `no-cache`: revalidate before each reuse.
        package static let noCache = Directives(rawValue: 1 << 0)
        /// `no-store`: not stored.
        package static let noStore = Directives(rawValue: 1 << 1)
        /// `private`: not stored by a shared cache.
        package static let isPrivate = Directives(rawValue: 1 << 2)
        /// `must-revalidate`: no cache serves it stale.
        static let mustRevalidate = Directives(rawValue: 1 << 3)
        /// `immutable` (RFC 8246).
        package static let immutable = Directives(rawValue: 1 << 4)
        /// `Vary: *`, or one that names a field of clients which the daemon sends on: matches no later request.
        package static let variesOnEverything = Directives(rawValue: 1 << 5)
        /// `proxy-revalidate` or `s-maxage`: no shared cache serves it stale (RFC 9111 §5.2.2.8, §5.2.2.10).
        static let proxyRevalidate = Directives(rawValue: 1 << 6)
        /// The lifetime is the origin's own, neither heuristic nor default.
        package static let explicitLifetime = Directives(rawValue: 1 << 7)
        /// An operator has purged a tag of it, or the index may have lost its last state: stale until the origin has confirmed it, whatever else holds.
        package static let mustConfirm = Directives(rawValue: 1 << 8)

        /// Of an entry in a read-only folder: fresh as long as that exists, which no file of the tier's own
        /// shows.
        package static let inReadOnlyFolder = Directives(rawValue: 1 << 9)

        /// `no-store` that `must-understand` overrides here (RFC 9111 §5.2.2.3): downstream caches decide for
        /// themselves.
        static let liftedNoStore = Directives(rawValue: 1 << 11)

        /// `no-transform` (RFC 9111 §5.2.2.6): passed on; the transforms of a URL are applied all the same.
        static let noTransform = Directives(rawValue: 1 << 12)

        /// A redirect led to a URL whose rule re-encodes originals: it is never sent unchanged.
        package static let reencoded = Directives(rawValue: 1 << 10)

        /// Whether the response must not be stored.
        package var forbidStoring: Bool { !isDisjoint(with: [.noStore, .isPrivate, .variesOnEverything]) }
        /// Whether the response must never be served without validation once it is stale (RFC 9111 §4.2.4).
        var forbidStale: Bool {
            !isDisjoint(with: [.noCache, .mustRevalidate, .proxyRevalidate, .mustConfirm])
        }
    }

    /// Creates a record from its members.
    package init(
        key: CacheKey, keyText: String, contentHash: ContentHash, byteCount: Int, format: ImageFormat,
        entityTag: String? = nil, lastModified: String? = nil, responseTime: WallTime,
        initialAge: TimeSpan = .zero, freshnessLifetime: Int64, directives: Directives = [],
        staleWhileRevalidate: Int64? = nil,
        staleIfError: Int64? = nil
    ) {
        self.key = key
        self.keyText = keyText
        self.contentHash = contentHash
        self.byteCount = byteCount
        self.format = format
        reuse = FreshnessPolicy.Verdict(
            freshnessLifetime: freshnessLifetime, initialAge: initialAge, responseTime: responseTime,
            directives: directives, entityTag: entityTag, lastModified: lastModified,
            staleWhileRevalidate: staleWhileRevalidate, staleIfError: staleIfError)
    }

    /// Whether the origin can be asked to confirm it (RFC 9110 §13.1).
    package var hasValidators: Bool { reuse.entityTag != nil || reuse.lastModified != nil }

    /// The length of all texts that a client or an origin decides, in bytes.
    package var textBytes: Int {
        let fields = reuse.reuseFields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        return keyText.utf8.count + fields + (reuse.entityTag?.utf8.count ?? 0)
            + (reuse.lastModified?.utf8.count ?? 0)
    }

    /// Hot path: the response's current age in whole seconds (RFC 9111 §4.2.3), rounded down from milliseconds.
    package func currentAge(at now: WallTime) -> Int64 {
        Int64((reuse.initialAge.milliseconds + now.elapsed(since: reuse.responseTime).milliseconds) / 1_000)
    }

    /// The record for another machine, whose clock may differ, and the whole seconds since the response was received.
    ///
    /// The milliseconds beyond them are a part of its initial age, so that they are not lost.
    package func forOthers(at now: WallTime) -> (record: SourceRecord, age: Int64) {
        let elapsed = now.elapsed(since: reuse.responseTime)
        var record = self
        record.reuse.initialAge = .milliseconds(reuse.initialAge.milliseconds + elapsed.milliseconds % 1_000)
        return (record, Int64(elapsed.seconds))
    }

    /// The value of `Last-Modified` in answers: the origin's, whatever its form (RFC 9110 §5.6.7), but not
    /// later than its answer (§8.8.2.1).
    package var modified: HTTPDate? {
        guard let date = reuse.lastModified.flatMap({ HTTPDate($0, now: reuse.responseTime.seconds) }) else {
            return nil
        }
        return min(date, HTTPDate(seconds: reuse.responseTime.seconds))
    }

    /// When the origin made the response, or revalidated it, in seconds since 1970: the `Date` of answers.
    ///
    /// The origin's own `Date` (RFC 9110 §6.6.1), which also decides which of two responses is the later one
    /// (RFC 9111 §4): the transfer of a response makes it older, but its generation no earlier.
    package var generationTime: Int64 { reuse.statedDate ?? (reuse.responseTime - reuse.initialAge).seconds }

    /// Whether the response may be reused without revalidation (RFC 9111 §4.2).
    package func isFresh(at now: WallTime) -> Bool {
        reuse.directives.isDisjoint(with: [.noCache, .mustConfirm])
            && currentAge(at: now) < reuse.freshnessLifetime
            && !isOfTheFuture(at: now)
    }

    /// Whether it was received later than now: the clock was ahead then, and its age is unknown.
    func isOfTheFuture(at now: WallTime) -> Bool { now < reuse.responseTime - Self.slack }

    /// By how much a clock may be set back without effect.
    private static var slack: TimeSpan { .seconds(2) }

    /// Seconds since the end of its lifetime; negative before it.
    func staleness(at now: WallTime) -> Int64 {
        currentAge(at: now) - reuse.freshnessLifetime
    }
}
