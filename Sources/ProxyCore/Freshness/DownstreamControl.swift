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
    /// One line for `SourceRecord.reuseFields`: lifetime, directives, and the three numbers that may be missing.
    var line: String {
        let optional = [browserLifetime, staleWhileRevalidate, staleIfError].map { $0.map { "\($0)" } ?? "-" }
        return (["\(lifetime)", "\(directives.rawValue)"] + optional).joined(separator: " ")
    }

    /// Reads what `line` wrote; of older records the first two numbers alone. Anything else allows nothing.
    init(line: Substring) {
        let words = line.split(separator: " ")
        guard words.count == 2 || words.count == 5, let lifetime = Int64(words[0]),
            let bits = UInt32(words[1])
        else {
            self.init(lifetime: 0, directives: .noStore)
            return
        }
        self.init(lifetime: lifetime, directives: SourceRecord.Directives(rawValue: bits))
        guard words.count == 5 else { return }
        (browserLifetime, staleWhileRevalidate, staleIfError) = (
            Int64(words[2]), Int64(words[3]), Int64(words[4])
        )
    }

    /// The directives of a response without any further ones.
    init(lifetime: Int64, directives: SourceRecord.Directives) {
        (self.lifetime, self.directives) = (lifetime, directives)
    }

    /// The directives of a head that addresses no cache in particular.
    init(_ verdict: FreshnessPolicy.Verdict) {
        self.init(lifetime: verdict.freshnessLifetime, directives: verdict.directives)
        browserLifetime = verdict.browserLifetime
        (staleWhileRevalidate, staleIfError) = (verdict.staleWhileRevalidate, verdict.staleIfError)
    }
}

extension SourceRecord {
    /// The directives for browsers and downstream caches: those that the origin sends to all, if it addresses
    /// this cache with a targeted field (RFC 9213).
    public var downstream: DownstreamControl {
        guard var control = untargeted else {
            var control = DownstreamControl(lifetime: freshnessLifetime, directives: directives)
            control.browserLifetime = browserLifetime
            (control.staleWhileRevalidate, control.staleIfError) = (staleWhileRevalidate, staleIfError)
            return control
        }
        // A response that is private here is private downstream, too, whatever the origin sends to others.
        control.directives.formUnion(directives.intersection([.purged, .isPrivate]))
        return control
    }

    /// Whether the downstream directives differ from those that apply here.
    var isTargeted: Bool { line(beginningWith: Self.untargetedMark) != nil }

    /// The downstream directives, if the origin sends other ones to this cache.
    private var untargeted: DownstreamControl? {
        get {
            line(beginningWith: Self.untargetedMark).map {
                DownstreamControl(line: $0.dropFirst(Self.untargetedMark.count))
            }
        }
        set { setLine(Self.untargetedMark, newValue?.line) }
    }

    /// Seconds for which a browser may reuse the response, if `s-maxage` is another lifetime than that.
    var browserLifetime: Int64? {
        get { line(beginningWith: Self.browserMark).flatMap { Int64($0.dropFirst(Self.browserMark.count)) } }
        set { setLine(Self.browserMark, newValue.map { "\($0)" }) }
    }

    /// The origin's `Date` in seconds since 1970; nil if it follows from the age and the response time.
    var statedDate: Int64? {
        line(beginningWith: Self.madeMark).flatMap { Int64($0.dropFirst(Self.madeMark.count)) }
    }

    /// Bounds every lifetime, also those for downstream.
    mutating func boundLifetimes(_ bound: (Int64) -> Int64) {
        freshnessLifetime = bound(freshnessLifetime)
        if let seconds = browserLifetime { browserLifetime = bound(seconds) }
        guard var control = untargeted else { return }
        control.lifetime = bound(control.lifetime)
        control.browserLifetime = control.browserLifetime.map(bound)
        untargeted = control
    }

    /// Replaces all lifetimes by one, and removes what contradicts it or was promised for another.
    mutating func overrideLifetimes(with seconds: Int64) {
        let contradicting: Directives = [.noCache, .mustRevalidate, .proxyRevalidate, .immutable]
        freshnessLifetime = seconds
        directives.subtract(contradicting)
        browserLifetime = nil
        guard var control = untargeted else { return }
        (control.lifetime, control.browserLifetime) = (seconds, nil)
        control.directives.subtract(contradicting)
        untargeted = control
    }

    // MARK: - Lines of `reuseFields`

    /// Hardly any record has these lines, so they are looked for by bytes, not by characters.
    private func line(beginningWith mark: String) -> Substring? {
        var rest = reuseFields.utf8[...]
        while !rest.starts(with: mark.utf8) {
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            rest = rest[rest.index(after: end)...]
        }
        return Substring(rest.prefix { $0 != UInt8(ascii: "\n") })
    }

    private mutating func setLine(_ mark: String, _ text: String?) {
        if text == nil, line(beginningWith: mark) == nil { return }
        var lines = reuseFields.split(separator: "\n").filter { !$0.hasPrefix(mark) }
        if let text { lines.append("\(mark)\(text)") }
        reuseFields = lines.joined(separator: "\n")
    }

    /// Begins the line of `reuseFields` that keeps the origin's `Date`.
    static let madeMark = "made: "

    /// Begins the line of `reuseFields` with the downstream directives.
    static let untargetedMark = "untargeted: "

    /// Begins the line of `reuseFields` that keeps the browsers' lifetime.
    static let browserMark = "browsers: "
}
