// SPDX-License-Identifier: Apache-2.0

/// How the sources of some origins are treated (SDWebImage's options processor and the hooks around its loader).
///
/// Configuration: a member of the list `origins`; of all rules the first that matches holds. Whatever is left out is as
/// without a rule. Secrets are named, never written here.
public struct OriginRuleConfiguration: Sendable, Hashable, Codable {
    /// Patterns of source URLs, one or a list: `https://*.example.com/photos/*`.
    public var match: [String] = []
    /// Options that every request for these sources gets.
    public var options: [String] = []
    /// Fields sent to the origin, by name; values as text, or from a file or credential.
    public var requestHeaders: [String: ConfiguredText] = [:]
    /// Where the sources really are.
    public var rewrite: Rewrite?
    /// How the daemon proves to the origin who asks.
    public var auth: Auth?
    /// Whether the client's cookies are sent; what comes back is then for this client alone.
    public var cookies: Cookies = .ignore
    /// How far the origin's certificate is trusted.
    public var tls: TLS?
    /// Media types of which the response must be one, `image/*` among them (SDWebImage: acceptableContentTypes).
    public var responseContentType: [String] = []
    /// How long responses are reused, whatever the origin says.
    public var responseTTL: TTL?
    /// Status codes whose body is taken for the image (SDWebImage: acceptableStatusCodes); 200 and 203 when empty.
    public var acceptStatus: [Int] = []
    /// What of a URL does not tell sources apart (SDWebImage: cacheKeyFilter).
    public var cacheKey: CacheKeyFilter?
    /// How bodies are coded beyond HTTP (SDWebImage: downloaderDecryptor).
    public var decode: Decode = .none
    /// Whether originals never go out as they are: an image without a transform is encoded anew, and stripped.
    public var reencode = false
    /// The format that originals are stored in (SDWebImage: cacheSerializer); as they came when nil.
    public var storeAs: ImageFormat?
    /// Fetches at once for all sources of this rule; nil is no bound of its own.
    public var maxConcurrent: Int?
    /// What fetches.
    public var loader: Loader = .http
    /// The folder that the loader `file` serves: a URL's path is the file's below it.
    public var root: String?

    /// Where sources really are: a prefix of the URL, replaced by another.
    public struct Rewrite: Sendable, Hashable, Codable {
        /// What the normalised URL begins with; ends in a slash.
        public var from: String
        /// What it is replaced by: an absolute URL that ends in a slash.
        public var to: String
    }

    /// How the daemon proves who asks.
    public enum Auth: Sendable, Hashable {
        /// RFC 7617.
        case basic(user: String, password: ConfiguredText)
        /// RFC 6750.
        case bearer(ConfiguredText)
        /// AWS Signature Version 4, as private buckets want it.
        case awsSigV4(AWSCredentials)
    }

    /// What AWS Signature Version 4 needs.
    public struct AWSCredentials: Sendable, Hashable {
        /// Such as `eu-central-1`.
        public var region: String
        /// Such as `s3`.
        public var service: String
        /// The key's name.
        public var accessKey: ConfiguredText
        /// The key.
        public var secretKey: ConfiguredText
    }

    /// What becomes of a client's cookies.
    public enum Cookies: String, Sendable, Hashable, Codable, CaseIterable {
        case ignore, forward
    }

    /// How far a certificate is trusted.
    public struct TLS: Sendable, Hashable, Codable {
        /// Whether any certificate will do.
        public var insecure = false
        /// A file with the certificates (PEM) that are trusted in place of the system's.
        public var ca: String?
    }

    /// Freshness lifetimes in place of the origin's; `no-store` and `private` stay.
    public struct TTL: Sendable, Hashable, Codable {
        /// At least this.
        public var minimum: TimeSpan?
        /// At most this.
        public var maximum: TimeSpan?
        /// Exactly this, `no-cache` or not.
        public var override: TimeSpan?
    }

    /// What of a URL tells no sources apart.
    public struct CacheKeyFilter: Sendable, Hashable, Codable {
        /// Names of query parameters, `*` at the end standing for any: `utm_*`, `X-Amz-*`; `*` alone for all of them.
        public var dropQuery: [String] = []
    }

    /// A coding of bodies.
    public enum Decode: String, Sendable, Hashable, Codable, CaseIterable {
        case none, base64
    }

    /// What fetches.
    public enum Loader: String, Sendable, Hashable, Codable, CaseIterable {
        case http, file
    }

    /// A rule for nothing, yet.
    public init() {}
}
