// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The `Cache-Control` of a response to browsers and downstream caches.
///
/// As the origin sent it for them, within the configured bounds; an operator's rule for lifetimes applies to
/// them, too. `Age` counts from the same moment as the lifetimes here, so they stay constant for an entry.
package struct DownstreamControl: Sendable, Hashable {
    /// Seconds for which a shared cache may reuse the response.
    package var lifetime: Int64
    /// Seconds for which a browser may, if the origin sends `s-maxage`; nil if both have the same.
    package var browserLifetime: Int64?
    /// The directives without a number.
    package var directives: SourceRecord.Directives
    /// Seconds of `stale-while-revalidate` and of `stale-if-error`, if the origin sends them (RFC 5861).
    package var staleWhileRevalidate: Int64?, staleIfError: Int64?
    /// Seconds of `stale-while-revalidate` that browsers may have at most; nil if as many as the origin sends.
    private var mostStaleOfBrowsers: Int64?

    package init(
        lifetime: Int64, browserLifetime: Int64? = nil, directives: SourceRecord.Directives,
        staleWhileRevalidate: Int64? = nil, staleIfError: Int64? = nil
    ) {
        self.lifetime = lifetime
        self.browserLifetime = browserLifetime
        self.directives = directives
        self.staleWhileRevalidate = staleWhileRevalidate
        self.staleIfError = staleIfError
    }

    /// The same for a response that a better one is to replace.
    /// - Parameter age: seconds; no cache may reuse the response beyond this age. No change if nil.
    package func limited(to age: Int64?) -> DownstreamControl {
        guard let age else { return self }
        var limited = self
        limited.lifetime = min(lifetime, age)
        limited.browserLifetime = browserLifetime.map { min($0, age) }
        limited.directives.remove(.immutable)
        return limited
    }

    /// The same under an operator's lifetimes, for an answer of this age in seconds.
    ///
    /// The lifetimes start with the answer, so its age is added. Responses that must be revalidated or are
    /// stale are not changed.
    package func bounded(by configuration: DownstreamConfiguration, age: Int64) -> DownstreamControl {
        guard directives.isDisjoint(with: [.noStore, .noCache, .variesOnEverything]) else { return self }
        let (browser, shared) = (configuration.browserMaxAge, configuration.sharedMaxAge)
        var bounded = self
        let ofBrowsers = browserLifetime ?? lifetime
        guard age < lifetime else {
            if browser != .zero {
                bounded.mostStaleOfBrowsers = max(0, age + Int64(browser.seconds) - ofBrowsers)
            }
            return bounded
        }
        let mostOfBrowsers = browser == .zero ? ofBrowsers : min(ofBrowsers, age + Int64(browser.seconds))
        if shared != .zero, !directives.contains(.isPrivate) {
            bounded.lifetime = age + Int64(shared.seconds)
        }
        if browserLifetime != nil || mostOfBrowsers != bounded.lifetime {
            bounded.browserLifetime = mostOfBrowsers
        }
        if browser != .zero { bounded.mostStaleOfBrowsers = age + Int64(browser.seconds) - mostOfBrowsers }
        return bounded
    }

    /// Appends the field's value.
    /// - Parameters:
    ///   - value: what has been written of the field.
    ///   - sendsShared: whether shared caches get their own lifetime here.
    package func append(to value: inout [UInt8], sendsShared: Bool = true) {
        let forbidsStoring = directives.contains(.noStore)
        let isPrivate = directives.contains(.isPrivate)
        if forbidsStoring {
            value += "no-store".utf8
            if isPrivate { value += ", private".utf8 }
        } else {
            value += (isPrivate ? "private" : "public").utf8
            // Caches that know the first of the two ignore the second; others follow it (RFC 9111 §5.2.2.3).
            if directives.contains(.liftedNoStore) { value += ", must-understand, no-store".utf8 }
        }
        // A response that varies on everything is never reused without validation (RFC 9111 §4.1), here and downstream.
        let isRevalidated = !directives.isDisjoint(with: [.noCache, .variesOnEverything])
        if isRevalidated { value += ", no-cache".utf8 }
        // A default lifetime would contradict these two.
        if !forbidsStoring, !isRevalidated || directives.contains(.explicitLifetime) {
            Self.append("max-age", browserLifetime ?? lifetime, to: &value)
            if namesShared, sendsShared { Self.append("s-maxage", lifetime, to: &value) }
        }
        if directives.contains(.mustRevalidate) { value += ", must-revalidate".utf8 }
        // s-maxage includes its meaning (RFC 9111 §5.2.2.10).
        let isIncluded = browserLifetime != nil && (sendsShared || isPrivate)
        if directives.contains(.proxyRevalidate), !isIncluded {
            value += ", proxy-revalidate".utf8
        }
        if directives.contains(.noTransform) { value += ", no-transform".utf8 }
        guard !forbidsStoring else { return }
        if directives.contains(.immutable) { value += ", immutable".utf8 }
        let stale = staleWhileRevalidate.map { min($0, mostStaleOfBrowsers ?? $0) }
        if stale != 0 || mostStaleOfBrowsers == nil {
            Self.append("stale-while-revalidate", stale, to: &value)
        }
        Self.append("stale-if-error", staleIfError, to: &value)
    }

    /// Whether `s-maxage` is sent: a private response has no shared cache to address.
    private var namesShared: Bool {
        browserLifetime != nil && directives.isDisjoint(with: [.isPrivate, .noStore])
    }

    private static func append(_ name: String, _ seconds: Int64?, to value: inout [UInt8]) {
        guard let seconds else { return }
        value += ", ".utf8
        value += name.utf8
        value.append(UInt8(ascii: "="))
        value += String(max(0, seconds)).utf8
    }
}

// Fields that only caches in front read.
extension DownstreamControl {
    /// Whether a shared cache may neither store nor reuse the response without the origin.
    private var forbidsSharedReuse: Bool {
        !directives.isDisjoint(with: [.noStore, .isPrivate, .noCache, .variesOnEverything])
    }

    /// Appends the value of `CDN-Cache-Control`: a dictionary of structured fields (RFC 9213 §2.1). It
    /// replaces `Cache-Control` in such caches, so it repeats every directive for them.
    package func appendTargeted(to value: inout [UInt8]) {
        if directives.contains(.noStore) { return value += "no-store".utf8 }
        if directives.contains(.isPrivate) { return value += "private".utf8 }
        let isRevalidated = forbidsSharedReuse
        let hasLifetime = !isRevalidated || directives.contains(.explicitLifetime)
        var members: [String] = directives.contains(.liftedNoStore) ? ["must-understand", "no-store"] : []
        if isRevalidated { members.append("no-cache") }
        if hasLifetime { members.append("max-age=\(max(0, lifetime))") }
        if directives.contains(.mustRevalidate) { members.append("must-revalidate") }
        if directives.contains(.proxyRevalidate) { members.append("proxy-revalidate") }
        if directives.contains(.noTransform) { members.append("no-transform") }
        members += staleWindows
        value += members.joined(separator: ", ").utf8
    }

    /// Appends the value of `Surrogate-Control`, which knows `no-store`, `max-age` and, by use, stale windows.
    package func appendSurrogate(to value: inout [UInt8]) {
        guard directives.isDisjoint(with: [.noStore, .isPrivate, .liftedNoStore]) else {
            return value += "no-store".utf8
        }
        let seconds = forbidsSharedReuse ? 0 : max(0, lifetime)
        value += (["max-age=\(seconds)"] + (seconds > 0 ? staleWindows : [])).joined(separator: ", ").utf8
    }

    /// The value of `X-Accel-Expires` of an answer of this age: seconds for which it is fresh from now on.
    package func secondsLeft(atAge age: Int64) -> Int64 {
        forbidsSharedReuse || directives.contains(.liftedNoStore) ? 0 : max(0, lifetime - age)
    }

    private var staleWindows: [String] {
        (staleWhileRevalidate.map { ["stale-while-revalidate=\(max(0, $0))"] } ?? [])
            + (staleIfError.map { ["stale-if-error=\(max(0, $0))"] } ?? [])
    }
}

extension DownstreamControl {
    fileprivate mutating func boundLifetimes(_ bound: (Int64) -> Int64) {
        lifetime = bound(lifetime)
        browserLifetime = browserLifetime.map(bound)
    }

    /// The directives of a head that addresses no cache in particular.
    init(_ verdict: FreshnessPolicy.Verdict) {
        self.init(
            lifetime: verdict.freshnessLifetime, browserLifetime: verdict.browserLifetime,
            directives: verdict.directives, staleWhileRevalidate: verdict.staleWhileRevalidate,
            staleIfError: verdict.staleIfError)
    }
}

extension SourceRecord {
    /// The directives for browsers and downstream caches: those that the origin sends to all, if it addresses
    /// this cache with a targeted field (RFC 9213).
    package var downstream: DownstreamControl {
        guard var control = reuse.untargeted else { return DownstreamControl(reuse) }
        // A response that is private here is private downstream, too, whatever the origin sends to others.
        control.directives.formUnion(reuse.directives.intersection([.mustConfirm, .isPrivate]))
        return control
    }

    /// Bounds every lifetime, also those for downstream.
    package mutating func boundLifetimes(_ bound: (Int64) -> Int64) {
        reuse.freshnessLifetime = bound(reuse.freshnessLifetime)
        reuse.browserLifetime = reuse.browserLifetime.map(bound)
        reuse.untargeted?.boundLifetimes(bound)
    }

    /// Replaces all lifetimes by one, and removes what contradicts it or was promised for another.
    package mutating func overrideLifetimes(with seconds: Int64) {
        let contradicting: Directives = [.noCache, .mustRevalidate, .proxyRevalidate, .immutable]
        reuse.freshnessLifetime = seconds
        reuse.directives.subtract(contradicting)
        reuse.browserLifetime = nil
        reuse.untargeted?.lifetime = seconds
        reuse.untargeted?.directives.subtract(contradicting)
        reuse.untargeted?.browserLifetime = nil
    }
}
