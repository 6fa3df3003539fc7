// SPDX-License-Identifier: Apache-2.0

/// One origin rule, checked and with its secrets read: what the rooms ask while they serve a source.
public final class OriginRule: Sendable {
    /// Its place in the list, from 0.
    public let index: Int
    /// Options that every request for these sources gets; to forward cookies is one of them.
    public let options: ImageOptions
    /// Whether originals must not go out as they are.
    public let reencodes: Bool
    /// The format that originals are stored in; as they came when nil.
    public let storeAs: ImageFormat?
    /// Fetches at once for all its sources; nil is no bound of its own.
    let maxConcurrent: Int?
    /// The folder whose files are served in place of an origin's; nil for HTTP.
    let root: String?
    /// What the origin is told of who asks; none of it goes anywhere else.
    let credentials: OriginCredentials
    /// How far the origin's certificate is trusted.
    let tls: OriginRuleConfiguration.TLS
    /// Whether bodies are base64 of what is meant.
    let decodesBase64: Bool

    private let patterns: [URLPattern]
    private let rewrite: URLRewrite?
    private let filter: QueryFilter
    private let mediaTypes: MediaTypeList
    private let statuses: Set<Int>
    private let namesStatuses: Bool
    private let lifetime: OriginRuleConfiguration.TTL

    /// Statuses whose body is an image unless a rule says otherwise.
    static let successes: Set<Int> = [200, 203]

    /// Checks a rule and reads its secrets.
    init(
        _ configuration: OriginRuleConfiguration, at index: Int, secrets: SecretReader
    ) throws(OriginRuleError) {
        let check = OriginRuleCheck(index: index)
        self.index = index
        try check.bounds(configuration)
        if !secrets.isChecking { try check.files(configuration) }
        patterns = try check.patterns(configuration.match)
        let forwarding: ImageOptions = configuration.cookies == .forward ? .handleCookies : []
        options = try check.options(configuration.options).union(forwarding)
        credentials = try check.reading("requestHeaders") { () throws(OriginRuleError.Reason) in
            try OriginCredentials(configuration, secrets: secrets)
        }
        rewrite = try configuration.rewrite.map { (value) throws(OriginRuleError) in
            try check.reading("rewrite") { () throws(OriginRuleError.Reason) in try URLRewrite(value) }
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

    /// Whether the rule is about a URL, as it is spelt or in its normal form.
    func matches(_ url: URLCandidate) -> Bool {
        patterns.contains { $0.matches(url) }
    }

    /// Whether a loose server could take a URL for one that the rule is about.
    func couldMatch(_ url: URLCandidate) -> Bool {
        patterns.contains { $0.couldMatch(url) }
    }

    /// Where a source is fetched from; nil where the rewritten URL can't be used.
    func target(of url: SourceURL) -> SourceURL? {
        guard let rewrite else { return url }
        return rewrite.target(of: url)
    }

    /// Whether a redirect may lead to `url` because the rule itself sends fetches there.
    func isRewriteTarget(_ url: SourceURL) -> Bool {
        rewrite?.isBelow(url) ?? false
    }

    /// The text by which the source is told from others.
    func keyText(of url: SourceURL) -> String { filter.key(of: url) }

    /// Whether a body with this status is taken for the image.
    func accepts(status: Int) -> Bool { statuses.contains(status) }

    /// Whether a body with this status, which another rule lets in, may be taken behind a redirect.
    func permits(status: Int) -> Bool { !namesStatuses || statuses.contains(status) }

    /// Whether a response of this media type is taken.
    func accepts(contentType: String?) -> Bool { mediaTypes.allows(contentType) }

    /// Shortens a source's lifetime to what the rule allows, where a redirect has led to a URL that it is about.
    func restrict(_ record: inout SourceRecord) {
        if let override = lifetime.override {
            let longest = record.initialAge + Int64(override.seconds)
            record.boundLifetimes { min($0, longest) }
        }
        if let maximum = lifetime.maximum {
            record.boundLifetimes { min($0, Int64(maximum.seconds)) }
        }
    }

    /// Bounds a source's lifetime, here and for those behind us; what may not be stored stays so.
    func apply(to record: inout SourceRecord) {
        if let override = lifetime.override {
            record.overrideLifetimes(with: record.initialAge + Int64(override.seconds))
        }
        if let minimum = lifetime.minimum {
            record.boundLifetimes { max($0, Int64(minimum.seconds)) }
        }
        if let maximum = lifetime.maximum {
            record.boundLifetimes { min($0, Int64(maximum.seconds)) }
        }
    }
}

extension OriginRule: Hashable {
    /// One rule is equal to itself alone.
    public static func == (left: OriginRule, right: OriginRule) -> Bool { left === right }

    /// Hashes its identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
