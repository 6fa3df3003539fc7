// SPDX-License-Identifier: Apache-2.0

package import Bodies
package import Imaging
package import Primitives

/// Decides how long an origin's response may be reused (RFC 9111 §4.2), within the configured bounds.
package struct FreshnessPolicy: Sendable, Equatable {
    let configuration: FreshnessConfiguration

    /// The reuse of a response, derived from its head.
    package struct Verdict: Sendable, Hashable {
        /// Seconds since its generation for which it is fresh, within the configured bounds (RFC 9111 §4.2.1).
        package var freshnessLifetime: Int64
        /// Seconds for which a browser may reuse it, if `s-maxage` is another lifetime than that.
        package var browserLifetime: Int64?
        /// Its age when it was received (corrected_initial_age, RFC 9111 §4.2.3).
        package var initialAge: TimeSpan
        /// When it was received or last revalidated (response_time of RFC 9111 §4.2.3).
        package var responseTime: WallTime
        /// The origin's directives that are passed on or apply here.
        package var directives: SourceRecord.Directives
        /// The origin's entity tag as it spelled it, if it is valid; for revalidation only.
        package var entityTag: String?
        /// The origin's `Last-Modified` as it spelled it, if it is a date.
        package var lastModified: String?
        /// Seconds after its lifetime for which the origin lets it be served while it is revalidated (RFC 5861 §3).
        ///
        /// Nil where the origin does not say.
        package var staleWhileRevalidate: Int64?
        /// Seconds after its lifetime for which the origin lets it be served in place of an error (RFC 5861 §4).
        ///
        /// Nil where the origin does not say.
        package var staleIfError: Int64?
        /// The origin's `Date` in seconds since 1970; nil if it follows from the age and the response time.
        package var statedDate: Int64?
        /// The directives for other caches, where the origin addresses this one with a targeted field (RFC 9213).
        package var untargeted: DownstreamControl?
        /// The status of the stored response, which a 304 does not repeat.
        package var status = 200
        /// The fields that decided on its reuse, canonical, below 2 KiB.
        ///
        /// A 304 replaces those that it names, and the reuse is decided anew (RFC 9111 §3.2).
        package var reuseFields: [HeaderField] = []
    }

    /// Bounds lifetimes by `configuration`.
    package init(configuration: FreshnessConfiguration) {
        self.configuration = configuration
    }

    /// Whether clients' `Cache-Control` counts.
    package var honoursClients: Bool { configuration.clientDirectives }

    /// The most refreshes at once, and the pause after one that failed, in seconds.
    package var refreshBounds: (limit: Int, pause: Int64) {
        (configuration.maxRefreshes, Int64(configuration.refreshPause.seconds))
    }

    /// Evaluates a response's head.
    ///
    /// - Parameters:
    ///   - head: of the final response.
    ///   - redirects: the heads of the redirects that led to it; they restrict its reuse.
    package func verdict(
        on head: OriginHead, after redirects: [OriginHead] = []
    ) -> Verdict {
        var untargeted = verdict(reading: head)
        let targeted = targeted(head)
        for redirect in redirects {
            narrow(&untargeted, by: redirect, forUs: targeted == nil)
        }
        guard let targeted else { return untargeted }
        var verdict = verdict(reading: targeted.head)
        for redirect in redirects { narrow(&verdict, by: redirect) }
        verdict.untargeted = DownstreamControl(untargeted)
        verdict.browserLifetime = nil
        verdict.reuseFields =
            [HeaderField(name: targeted.name, value: targeted.value)] + untargeted.reuseFields
        return verdict
    }

    private func verdict(reading head: OriginHead) -> Verdict {
        let control = CacheControl(head.values(of: "cache-control"))
        let isOrigins = configuration.respectOrigin
        let (made, age) = (Self.generation(head), Self.initialAge(head))
        return Verdict(
            freshnessLifetime: bounded(lifetime(head, control)),
            browserLifetime: isOrigins ? browserLifetime(head, control).map(bounded) : nil,
            initialAge: age,
            responseTime: head.responseTime,
            directives: directives(head, control)
                .union(isOrigins && !Self.mayGuess(head, control) ? .mustRevalidate : []),
            entityTag: control.restrictedFields.contains("etag") ? nil : Self.entityTag(head),
            lastModified: control.restrictedFields.contains("last-modified") ? nil : Self.lastModified(head),
            staleWhileRevalidate: isOrigins ? control.staleWhileRevalidate : nil,
            staleIfError: isOrigins ? control.staleIfError : nil,
            statedDate: made == (head.responseTime - age).seconds ? nil : made,
            status: head.status,
            reuseFields: Self.reuseFields(head, control))
    }

    /// Creates the record of a new body: its identity from the caller, its reuse from the head, or from its
    /// verdict.
    package func record(
        key: CacheKey, keyText: String, contentHash: ContentHash, byteCount: Int, format: ImageFormat,
        head: OriginHead, after redirects: [OriginHead] = [],
        verdict known: Verdict? = nil
    ) -> SourceRecord {
        var record = SourceRecord(
            key: key, keyText: keyText, contentHash: contentHash, byteCount: byteCount, format: format,
            responseTime: WallTime(seconds: 0), freshnessLifetime: 0)
        record.reuse = known ?? verdict(on: head, after: redirects)
        return record
    }

    /// Returns `record` after a 304: the body the same, its reuse decided anew (RFC 9111 §3.2, §4.3.4).
    ///
    /// The fields of the 304 replace the stored ones; those it does not contain stay. Age and date are those
    /// of the 304, since both concern one message.
    package func updating(
        _ record: SourceRecord, with head: OriginHead, after redirects: [OriginHead] = []
    ) -> SourceRecord {
        var merged = head
        merged.status = record.reuse.status
        let carried = Set(head.fields.map(\.name))
        let validators = [
            record.reuse.entityTag.map { HeaderField(name: "etag", value: $0) },
            record.reuse.lastModified.map { HeaderField(name: "last-modified", value: $0) },
        ]
        merged.fields += (record.reuse.reuseFields + validators.compactMap { $0 }).filter {
            !carried.contains($0.name)
        }
        var updated = record
        updated.reuse = verdict(on: merged, after: redirects)
        return updated
    }

    /// The fields that decide on a response's reuse, canonical, so that they are short whatever an origin sends.
    private static func reuseFields(_ head: OriginHead, _ control: CacheControl) -> [HeaderField] {
        let hasControl = !head.values(of: "cache-control").isEmpty
        let fields = [
            ("cache-control", hasControl ? control.canonicalText : nil), ("expires", expires(head)),
            ("pragma", isPragmaNoCache(head) ? "no-cache" : nil),
            ("vary", variesOnEverything(head) ? "*" : nil),
        ]
        return fields.compactMap { name, value in value.map { HeaderField(name: name, value: $0) } }
    }

    /// A date in IMF-fixdate; `0` for an invalid one (RFC 9111 §5.3).
    private static func expires(_ head: OriginHead) -> String? {
        let values = head.values(of: "expires")
        guard let value = values.first else { return nil }
        guard values.count == 1, let date = HTTPDate(value, now: head.responseTime.seconds) else {
            return "0"
        }
        return date.description
    }

    // MARK: - Lifetime (RFC 9111 §4.2.1)

    func bounded(_ seconds: Int64) -> Int64 {
        min(max(seconds, Int64(configuration.minimum.seconds)), Int64(configuration.maximum.seconds))
    }

    /// s-maxage, then max-age, then Expires − Date, then the heuristic if one is configured, then the
    /// default.
    ///
    /// The last two only for a status whose responses may be stored without an explicit lifetime: a rule's
    /// `acceptStatus` accepts others, too (RFC 9111 §3, §4.2.2).
    private func lifetime(_ head: OriginHead, _ control: CacheControl) -> Int64 {
        let fallback = Int64(configuration.default.seconds)
        guard configuration.respectOrigin else { return fallback }
        if let declared = control.sharedMaxAge ?? control.maxAge ?? Self.untilExpires(head) {
            return declared
        }
        return Self.mayGuess(head, control) ? heuristic(head) ?? fallback : 0
    }

    /// The lifetime for browsers if `s-maxage` addresses shared caches alone; without one of their own no
    /// longer than that.
    private func browserLifetime(_ head: OriginHead, _ control: CacheControl) -> Int64? {
        guard let shared = control.sharedMaxAge else { return nil }
        return control.maxAge ?? Self.untilExpires(head)
            ?? min(shared, heuristic(head) ?? Int64(configuration.default.seconds))
    }

    /// Expires − Date; 0 if `Expires` is not a date, such as `0` (RFC 9111 §5.3), or if there are two.
    static func untilExpires(_ head: OriginHead) -> Int64? {
        let values = head.values(of: "expires")
        guard let value = values.first else { return nil }
        guard values.count == 1, let expires = HTTPDate(value, now: head.responseTime.seconds) else {
            return 0
        }
        return max(0, expires.seconds - generation(head))
    }

    /// Whether a default lifetime is allowed if the origin sends none; true if it sends one.
    private static func mayGuess(_ head: OriginHead, _ control: CacheControl) -> Bool {
        control.isPublic || control.sharedMaxAge != nil || control.maxAge != nil
            || !head.values(of: "expires").isEmpty
            || StatusReuse.isHeuristic(head.status)
    }

    /// A share of the time since `Last-Modified` (RFC 9111 §4.2.2); nil if none is configured, or that is not
    /// a date of the past.
    private func heuristic(_ head: OriginHead) -> Int64? {
        let rule = configuration.heuristic
        guard rule.factor > 0, let value = head.values(of: "last-modified").first,
            let modified = HTTPDate(value, now: head.responseTime.seconds)
        else { return nil }
        let age = Self.generation(head) - modified.seconds
        guard age > 0 else { return nil }
        let share = Int64((Double(age) * rule.factor).rounded(.down))
        return min(max(share, Int64(rule.minimum.seconds)), Int64(rule.maximum.seconds))
    }

    // MARK: - Age (RFC 9111 §4.2.3)

    /// The larger of the apparent age and the corrected `Age`.
    static func initialAge(_ head: OriginHead) -> TimeSpan {
        let delay = head.delay ?? head.responseTime.elapsed(since: head.requestTime)
        let made = generation(head)
        var apparent = head.responseTime.elapsed(since: WallTime(seconds: made))
        // Made after the request: no older than the response delay. A Date has no milliseconds, and so seems to be up to a
        // second earlier.
        if made >= head.requestTime.seconds { apparent = min(apparent, delay) }
        // Of several Age values the first counts (RFC 9111 §5.1); an invalid one is dropped.
        let declared = head.values(of: "age").first.flatMap { CacheControl.seconds(firstMember($0)) } ?? 0
        return max(apparent, .milliseconds(Int(declared) * 1_000 + delay.milliseconds))
    }

    private static func firstMember(_ value: String) -> String {
        String(value.prefix { $0 != "," && $0 != " " })
    }

    /// `Date`, or the response time if it is missing or invalid (RFC 9110 §6.6.1).
    static func generation(_ head: OriginHead) -> Int64 {
        head.values(of: "date").first.flatMap { HTTPDate($0, now: head.responseTime.seconds) }?.seconds
            ?? head.responseTime.seconds
    }

    // MARK: - Directives and validators

    func directives(
        _ head: OriginHead, _ control: CacheControl
    ) -> SourceRecord.Directives {
        var directives = control.directives
        // A rule's `acceptStatus` accepts undefined statuses; errors come with any status (RFC 9111
        // §5.2.2.3).
        if control.mustUnderstand {
            if StatusReuse.isUnderstood(head.status) {
                if directives.remove(.noStore) != nil { directives.insert(.liftedNoStore) }
            } else {
                directives.insert(.noStore)
            }
        }
        if Self.isPragmaNoCache(head) { directives.insert(.noCache) }
        if control.sharedMaxAge != nil || control.maxAge != nil || !head.values(of: "expires").isEmpty {
            directives.insert(.explicitLifetime)
        }
        if !configuration.respectOrigin { directives.formIntersection([.noStore, .isPrivate]) }
        if Self.variesOnEverything(head) { directives.insert(.variesOnEverything) }
        return directives
    }

    /// `Pragma: no-cache` counts only in the absence of `Cache-Control` (RFC 9111 §5.4).
    static func isPragmaNoCache(_ head: OriginHead) -> Bool {
        head.values(of: "cache-control").isEmpty
            && head.values(of: "pragma").contains { FieldList($0).contains { $0.name == "no-cache" } }
    }

    /// `Vary: *` matches no later request (RFC 9111 §4.1), and one that names a field of the client may match none; the
    /// daemon's other fields are constant.
    static func variesOnEverything(_ head: OriginHead) -> Bool {
        head.values(of: "vary").contains { FieldList($0).contains { variableFields.contains($0.name) } }
    }

    /// The fields of clients that the daemon sends on, and `*`.
    private static let variableFields: Set = ["*", "via", "cdn-loop", "traceparent"]

    /// The longest entity tag that is stored, in bytes; a longer one counts as absent.
    static let maxEntityTagBytes = 512
    /// The longest `Last-Modified` that is stored, in bytes; a longer one counts as absent. No form of a date
    /// needs so many.
    private static let maxDateBytes = 64

    /// An entity tag of the form of RFC 9110 §8.8.3; anything else could not be sent back safely.
    private static func entityTag(_ head: OriginHead) -> String? {
        guard let value = head.values(of: "etag").first, value.utf8.count <= maxEntityTagBytes else {
            return nil
        }
        let opaque = value.hasPrefix("W/") ? value.dropFirst(2) : value[...]
        guard opaque.utf8.count >= 2, opaque.utf8.first == 0x22, opaque.utf8.last == 0x22 else { return nil }
        let inner = opaque.utf8.dropFirst().dropLast()
        return inner.allSatisfy { $0 == 0x21 || (0x23...0x7E).contains($0) || $0 >= 0x80 } ? value : nil
    }

    private static func lastModified(_ head: OriginHead) -> String? {
        guard let value = head.values(of: "last-modified").first, value.utf8.count <= maxDateBytes else {
            return nil
        }
        return HTTPDate(value, now: head.responseTime.seconds) == nil ? nil : value
    }
}
