// SPDX-License-Identifier: Apache-2.0

/// The treatment of some origins' sources (SDWebImage's options processor and the hooks of its loader).
///
/// Configuration: a member of the list `origins`; the first rule that matches a source applies. An omitted
/// member has the same value as without a rule. Secrets are named here, never contained.
package struct OriginRuleConfiguration: Sendable, Hashable, Codable {
    /// Patterns of source URLs, one or a list: `https://*.example.com/photos/*`.
    package var match: [String] = []
    /// Options that every request for these sources gets.
    package var options: [String] = []
    /// Fields for the origin, by name; values as text, or from a file or credential.
    package var requestHeaders: [String: ConfiguredText] = [:]
    /// The URLs that the sources are fetched from.
    package var rewrite: Rewrite?
    /// How the daemon authenticates at the origin.
    package var auth: Auth?
    /// Whether the client's cookies are sent to the origin; the response is then for this client alone.
    package var cookies: Cookies = .ignore
    /// How the origin's certificate is verified.
    package var tls: TLS?
    /// The media types of which the response must have one, such as `image/*` (SDWebImage:
    /// acceptableContentTypes).
    package var responseContentType: [String] = []
    /// Bounds on how long responses are reused, in place of the origin's.
    package var responseTTL: TTL?
    /// The status codes whose body is the image (SDWebImage: acceptableStatusCodes); 200 and 203 when empty.
    package var acceptStatus: [Int] = []
    /// The parts of a URL that don't distinguish sources (SDWebImage: cacheKeyFilter).
    package var cacheKey: CacheKeyFilter?
    /// A coding of bodies in addition to HTTP's (SDWebImage: downloaderDecryptor).
    package var decode: Decode = .none
    /// Whether originals are never sent as they came: an image without a transform is encoded again, without
    /// metadata.
    package var reencode = false
    /// The format that originals are stored in (SDWebImage: cacheSerializer); nil for their own.
    package var storeAs: ImageFormat?
    /// The maximum number of concurrent fetches for all sources of this rule; nil for no bound of its own.
    package var maxConcurrent: Int?
    /// The loader that fetches the sources.
    package var loader: Loader = .http
    /// The folder of the loader `file`: a URL's path is the file's path below it.
    package var root: String?

    /// Replaces a prefix of the URL by another for the fetch.
    package struct Rewrite: Sendable, Hashable, Codable {
        /// The prefix of the normalized URL; ends in a slash.
        package var from: String
        /// The replacement: an absolute URL that ends in a slash.
        package var to: String
    }

    /// How the daemon authenticates.
    package enum Auth: Sendable, Hashable {
        /// RFC 7617.
        case basic(user: String, password: ConfiguredText)
        /// RFC 6750.
        case bearer(ConfiguredText)
        /// AWS Signature Version 4, for private buckets.
        case awsSigV4(AWSCredentials)
    }

    /// The parameters of AWS Signature Version 4.
    package struct AWSCredentials: Sendable, Hashable {
        /// Such as `eu-central-1`.
        package var region: String
        /// Such as `s3`.
        package var service: String
        /// The key's name.
        package var accessKey: ConfiguredText
        /// The key.
        package var secretKey: ConfiguredText
    }

    /// The treatment of a client's cookies.
    package enum Cookies: String, Sendable, Hashable, Codable, CaseIterable {
        case ignore, forward
    }

    /// How a certificate is verified.
    package struct TLS: Sendable, Hashable, Codable {
        /// Whether any certificate is accepted.
        package var insecure = false
        /// A file with the certificates (PEM) that are trusted in place of the system's.
        package var ca: String?
    }

    /// Freshness lifetimes in place of the origin's; `no-store` and `private` still apply.
    package struct TTL: Sendable, Hashable, Codable {
        /// The minimum.
        package var minimum: TimeSpan?
        /// The maximum.
        package var maximum: TimeSpan?
        /// The exact lifetime, also for `no-cache`.
        package var override: TimeSpan?
    }

    /// The parts of a URL that don't distinguish sources.
    package struct CacheKeyFilter: Sendable, Hashable, Codable {
        /// Names of query parameters; `*` at the end matches any rest: `utm_*`, `X-Amz-*`; `*` alone matches
        /// all.
        package var dropQuery: [String] = []
    }

    /// A coding of bodies.
    package enum Decode: String, Sendable, Hashable, Codable, CaseIterable {
        case none, base64
    }

    /// A loader.
    package enum Loader: String, Sendable, Hashable, Codable, CaseIterable {
        case http, file
    }

    /// Creates a rule that matches nothing yet.
    package init() {}
}
