// SPDX-License-Identifier: Apache-2.0

/// The `Cache-Control` of a response to browsers and downstream caches.
///
/// As the origin sent it for them, within the configured bounds; an operator's rule for lifetimes applies to
/// them, too. `Age` counts from the same moment as the lifetimes here, so they stay constant for an entry.
public struct DownstreamControl: Sendable, Hashable {
    /// Seconds for which a shared cache may reuse the response.
    public var lifetime: Int64
    /// Seconds for which a browser may, if the origin sends `s-maxage`; nil if both have the same.
    public var browserLifetime: Int64?
    /// The directives without a number.
    public var directives: SourceRecord.Directives
    /// Seconds of `stale-while-revalidate` and of `stale-if-error`, if the origin sends them (RFC 5861).
    public var staleWhileRevalidate: Int64?, staleIfError: Int64?

    /// The same for a response that a better one is to replace.
    /// - Parameter age: seconds; no cache may reuse the response beyond this age. No change if nil.
    public func limited(to age: Int64?) -> DownstreamControl {
        guard let age else { return self }
        var limited = self
        limited.lifetime = min(lifetime, age)
        limited.browserLifetime = browserLifetime.map { min($0, age) }
        limited.directives.remove(.immutable)
        return limited
    }

    /// Appends the field's value.
    public func append(to value: inout [UInt8]) {
        let forbidsStoring = directives.contains(.noStore)
        let isPrivate = directives.contains(.isPrivate)
        if forbidsStoring {
            value += "no-store".utf8
            if isPrivate { value += ", private".utf8 }
        } else {
            value += (isPrivate ? "private" : "public").utf8
            // Caches that know the first of the two ignore the second; others obey it (RFC 9111 §5.2.2.3).
            if directives.contains(.liftedNoStore) { value += ", must-understand, no-store".utf8 }
        }
        // A response that varies on everything is never reused without validation (RFC 9111 §4.1), here and downstream.
        let isRevalidated = !directives.isDisjoint(with: [.noCache, .variesOnEverything])
        if isRevalidated { value += ", no-cache".utf8 }
        // A default lifetime would contradict these two.
        if !forbidsStoring, !isRevalidated || directives.contains(.explicitLifetime) {
            appendLifetimes(to: &value)
        }
        if directives.contains(.mustRevalidate) { value += ", must-revalidate".utf8 }
        // s-maxage includes its meaning (RFC 9111 §5.2.2.10).
        if directives.contains(.proxyRevalidate), browserLifetime == nil {
            value += ", proxy-revalidate".utf8
        }
        if directives.contains(.noTransform) { value += ", no-transform".utf8 }
        guard !forbidsStoring else { return }
        if directives.contains(.immutable) { value += ", immutable".utf8 }
        Self.append("stale-while-revalidate", staleWhileRevalidate, to: &value)
        Self.append("stale-if-error", staleIfError, to: &value)
    }

    /// Whether `s-maxage` is sent: a private response has no shared cache to address.
    private var namesShared: Bool {
        browserLifetime != nil && directives.isDisjoint(with: [.isPrivate, .noStore])
    }

    private func appendLifetimes(to value: inout [UInt8]) {
        Self.append("max-age", browserLifetime ?? lifetime, to: &value)
        if namesShared { Self.append("s-maxage", lifetime, to: &value) }
    }

    private static func append(_ name: String, _ seconds: Int64?, to value: inout [UInt8]) {
        guard let seconds else { return }
        value += ", ".utf8
        value += name.utf8
        value.append(UInt8(ascii: "="))
        value += String(max(0, seconds)).utf8
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
    public var downstream: DownstreamControl {
        guard var control = untargeted else {
            return DownstreamControl(
                lifetime: freshnessLifetime, browserLifetime: browserLifetime, directives: directives,
                staleWhileRevalidate: staleWhileRevalidate, staleIfError: staleIfError)
        }
        // A response that is private here is private downstream, too, whatever the origin sends to others.
        control.directives.formUnion(directives.intersection([.purged, .isPrivate]))
        return control
    }

    /// Bounds every lifetime, also those for downstream.
    mutating func boundLifetimes(_ bound: (Int64) -> Int64) {
        freshnessLifetime = bound(freshnessLifetime)
        browserLifetime = browserLifetime.map(bound)
        untargeted?.boundLifetimes(bound)
    }

    /// Replaces all lifetimes by one, and removes what contradicts it or was promised for another.
    mutating func overrideLifetimes(with seconds: Int64) {
        let contradicting: Directives = [.noCache, .mustRevalidate, .proxyRevalidate, .immutable]
        freshnessLifetime = seconds
        directives.subtract(contradicting)
        browserLifetime = nil
        untargeted?.lifetime = seconds
        untargeted?.directives.subtract(contradicting)
        untargeted?.browserLifetime = nil
    }
}
