// SPDX-License-Identifier: Apache-2.0

package import Freshness
package import Imaging
import Primitives
package import URLs

/// One origin rule, checked and with its secrets read.
package final class OriginRule: Sendable {
    /// The rule's index in the list, from 0.
    package let index: Int
    /// Options that every request for these sources gets, including the one that forwards cookies.
    package let options: ImageOptions
    /// Whether originals must not be sent as they came.
    package let reencodes: Bool
    /// The format that originals are stored in; nil for their own.
    package let storeAs: ImageFormat?
    /// The maximum number of concurrent fetches for all its sources; nil for no bound of its own.
    package let maxConcurrent: Int?
    /// The folder whose files replace an origin; nil for HTTP.
    package let root: String?
    /// The fields and the signature that authenticate at the origin; no other origin gets them.
    package let credentials: OriginCredentials
    /// How the origin's certificate is verified.
    package let tls: OriginRuleConfiguration.TLS
    /// Whether bodies are base64 of the picture.
    package let decodesBase64: Bool

    /// Whether the rule is about a bucket.
    private let isBucket: Bool
    private let patterns: [URLPattern]
    private let rewrite: URLRewrite?
    private let filter: QueryFilter
    private let mediaTypes: MediaTypeList
    private let statuses: Set<Int>
    private let namesStatuses: Bool
    private let lifetime: OriginRuleConfiguration.TTL

    /// The statuses whose body is an image unless a rule names others.
    package static let successes: Set<Int> = [200, 203]

    /// Checks a rule and reads its secrets.
    init(
        _ configuration: OriginRuleConfiguration, at index: Int, secrets: SecretReader,
        buckets: Buckets = .none
    ) throws(OriginRuleError) {
        let check = OriginRuleCheck(index: index)
        self.index = index
        try check.bounds(configuration)
        if !secrets.isChecking { try check.files(configuration) }
        isBucket = configuration.bucket != nil
        patterns = try check.patterns(configuration, secrets, buckets)
        let forwarding: ImageOptions = configuration.cookies == .forward ? .handleCookies : []
        options = try check.options(configuration.options).union(forwarding)
        credentials = try check.reading("requestHeaders") { () throws(OriginRuleError.Reason) in
            try OriginCredentials(configuration, secrets: secrets)
        }
        rewrite = try configuration.rewrite.map { (value) throws(OriginRuleError) in
            try check.reading("rewrite") { () throws(OriginRuleError.Reason) in
                try URLRewrite(value, buckets: buckets)
            }
        }
        filter = try check.reading("cacheKey.dropQuery") { () throws(OriginRuleError.Reason) in
            try QueryFilter(dropping: configuration.cacheKey?.dropQuery ?? [])
        }
        mediaTypes = try check.reading("responseContentType") { () throws(OriginRuleError.Reason) in
            try MediaTypeList(configuration.responseContentType)
        }
        reencodes = configuration.reencode
        storeAs = configuration.storeAs
        maxConcurrent = configuration.maxConcurrent
        root = configuration.loader == .file ? configuration.root : nil
        tls = configuration.tls ?? OriginRuleConfiguration.TLS()
        decodesBase64 = configuration.decode == .base64
        namesStatuses = !configuration.acceptStatus.isEmpty
        statuses = configuration.acceptStatus.isEmpty ? Self.successes : Set(configuration.acceptStatus)
        lifetime = configuration.responseTTL ?? OriginRuleConfiguration.TTL()
    }

    /// Whether the rule matches a URL, as it is spelt or in its normal form.
    func matches(_ url: URLCandidate) -> Bool {
        patterns.contains { $0.matches(url) }
    }

    /// Whether a lenient server could interpret a URL as one that the rule matches.
    func couldMatch(_ url: URLCandidate) -> Bool {
        patterns.contains { $0.couldMatch(url) }
    }

    /// The URL that a source is fetched from; nil if the rewritten URL is invalid.
    package func target(of url: SourceURL) -> SourceURL? {
        guard let rewrite else { return url }
        return rewrite.target(of: url)
    }

    /// Whether the rule is about a bucket, and a URL lies outside it, although maybe at the same origin.
    package func isOutsideBucket(_ url: SourceURL) -> Bool {
        isBucket && !matches(URLCandidate(url))
    }

    /// Whether a redirect may lead to `url` because the rule itself rewrites sources to there.
    package func isRewriteTarget(_ url: SourceURL) -> Bool {
        rewrite?.isBelow(url) ?? false
    }

    /// Whether cache keys may leave out parameters that the origin gets.
    package var dropsParameters: Bool { !filter.isEmpty }

    /// The text that identifies the source in cache keys.
    package func keyText(of url: SourceURL) -> String { filter.key(of: url) }

    /// Whether the body of a response with this status is the image.
    package func accepts(status: Int) -> Bool { statuses.contains(status) }

    /// Whether a redirect's response with this status, which the first rule accepts, is accepted by this
    /// rule, too.
    package func permits(status: Int) -> Bool { !namesStatuses || statuses.contains(status) }

    /// Whether a response of this media type is accepted.
    package func accepts(contentType: String?) -> Bool { mediaTypes.allows(contentType) }

    /// Shortens a source's lifetime to the rule's bounds, after a redirect to a URL that the rule matches.
    package func restrict(_ record: inout SourceRecord) {
        if let override = lifetime.override {
            let longest = Int64(record.reuse.initialAge.seconds + override.seconds)
            record.boundLifetimes { min($0, longest) }
        }
        applyMaximum(to: &record)
    }

    /// Bounds a source's lifetime, here and in browsers and caches downstream; does not change whether it may be stored.
    package func apply(to record: inout SourceRecord) {
        if let override = lifetime.override {
            record.overrideLifetimes(with: Int64(record.reuse.initialAge.seconds + override.seconds))
        }
        if let minimum = lifetime.minimum {
            record.boundLifetimes { max($0, Int64(minimum.seconds)) }
        }
        applyMaximum(to: &record)
    }

    private func applyMaximum(to record: inout SourceRecord) {
        guard let maximum = lifetime.maximum else { return }
        record.boundLifetimes { min($0, Int64(maximum.seconds)) }
    }
}

extension OriginRule: Hashable {
    /// Compares identities.
    package static func == (left: OriginRule, right: OriginRule) -> Bool { left === right }

    /// Hashes the identity.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
