// SPDX-License-Identifier: Apache-2.0

/// The fields that decide on a response's reuse, as a source record stores them for the next 304 to update.
///
/// Canonical, so that they are short whatever an origin sends.
enum ReuseFields {
    /// The text for a record: one `name: value` a line.
    static func text(_ head: OriginHead, _ control: CacheControl) -> String {
        var lines: [String] = []
        if !head.values(of: "cache-control").isEmpty {
            lines.append("cache-control: \(control.canonicalText)")
        }
        if let expires = expires(head) { lines.append("expires: \(expires)") }
        if FreshnessPolicy.isPragmaNoCache(head) { lines.append("pragma: no-cache") }
        if FreshnessPolicy.variesOnEverything(head) { lines.append("vary: *") }
        let made = FreshnessPolicy.generation(head)
        if made != head.responseTime - FreshnessPolicy.initialAge(head) {
            lines.append("\(SourceRecord.madeMark)\(made)")
        }
        // A 304 does not contain the status that it confirms.
        let status = status(of: head)
        if !StatusReuse.isHeuristic(status) || !StatusReuse.isUnderstood(status) {
            lines.append("\(statusName): \(status)")
        }
        return lines.joined(separator: "\n")
    }

    /// The status that a response was stored with, after a 304; its own otherwise.
    static func status(of head: OriginHead) -> Int {
        guard head.status == 304, let stored = head.values(of: statusName).first else { return head.status }
        return Int(stored) ?? head.status
    }

    /// Not a field name, so that no origin can send it.
    private static let statusName = "status/"

    /// The stored fields of a record, its validators among them.
    static func fields(of record: SourceRecord) -> [OriginRequest.Field] {
        let kept = record.reuseFields.split(separator: "\n").compactMap { line -> OriginRequest.Field? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return OriginRequest.Field(
                name: String(line[..<colon]), value: String(line[colon...].dropFirst(2)))
        }
        let tag = record.entityTag.map { OriginRequest.Field(name: "etag", value: $0) }
        let date = record.lastModified.map { OriginRequest.Field(name: "last-modified", value: $0) }
        return kept + [tag, date].compactMap { $0 }
    }

    /// A date in IMF-fixdate; `0` for an invalid one (RFC 9111 §5.3).
    private static func expires(_ head: OriginHead) -> String? {
        let values = head.values(of: "expires")
        guard let value = values.first else { return nil }
        guard values.count == 1, let date = HTTPDate(value, now: head.responseTime) else { return "0" }
        return date.description
    }
}

extension SourceRecord {
    /// The digest of the URL that redirects led to; nil if there were none.
    ///
    /// Stored among the fields that decide on the reuse, since the validators are that URL's.
    var finalURL: String? {
        get {
            reuseFields.split(separator: "\n").first { $0.hasPrefix(Self.finalURLMark) }.map {
                String($0.dropFirst(Self.finalURLMark.count))
            }
        }
        set {
            var lines = reuseFields.split(separator: "\n").filter { !$0.hasPrefix(Self.finalURLMark) }
            if let newValue { lines.append("\(Self.finalURLMark)\(newValue)") }
            reuseFields = lines.joined(separator: "\n")
        }
    }

    private static let finalURLMark = "final-url: "
}
