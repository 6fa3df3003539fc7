// SPDX-License-Identifier: Apache-2.0

/// An absolute `http` or `https` URL that may be asked for, normalised by libcurl's URL API.
///
/// Two spellings of one resource that differ in case of scheme or host, default port, dot segments or fragment are equal.
/// `normalized` is also exactly what is handed to libcurl for the transfer, so what is checked is what is fetched.
public struct SourceURL: Sendable {
    /// Scheme and host in lower case, default port, dot segments and fragment removed, other escapes as given.
    ///
    /// What may stand in no URI is percent-encoded in path and query, and so is a `%` that begins no escape: a request line
    /// holds a URI (RFC 9112 §3.2).
    public let normalized: String
    /// Whom the URL names: scheme, host and port.
    public let origin: Origin
    /// The path, beginning with `/`, escapes as given.
    public let path: String
    /// The query without its question mark; nil where there is none.
    public let query: String?

    /// Longest URL in bytes, before and after normalisation; a longer one is `SourceURLError.tooLong`.
    public static let maxBytes = 8_192

    /// A scheme, host and port: what connections, limits per host and breakers go by.
    public struct Origin: Sendable, Hashable {
        /// `http` or `https`.
        public let scheme: String
        /// The host in lower case; an IPv6 address in brackets.
        public let host: String
        /// The port, 1–65535.
        public let port: Int
    }

    /// `http` or `https`.
    public var scheme: String { origin.scheme }
    /// The host in lower case; an IPv6 address in brackets.
    public var host: String { origin.host }
    /// The port, 1–65535.
    public var port: Int { origin.port }

    /// The address that stands in the host's place; nil for a name.
    public var literalAddress: IPAddress? {
        host.hasPrefix("[") ? IPAddress(String(host.dropFirst().dropLast())) : IPAddress(host)
    }

    /// Reads an absolute URL.
    /// - Throws: what is wrong with it; nothing is repaired but what RFC 3986 §6.2.2 and §6.2.3 call equivalent.
    public init(parsing text: String) throws(SourceURLError) {
        if let plain = SourceURL(plain: text) {
            self = plain
            return
        }
        self = try SourceURL(normalizing: text)
    }

    /// Reads any URL by libcurl.
    init(normalizing text: String) throws(SourceURLError) {
        try SourceURLSyntax.check(text)
        do {
            try self.init(
                CurlURL.parsing(SourceURLSyntax.decodingDots(SourceURLSyntax.percentEncoding(text))))
        } catch {
            throw SourceURLError(error)
        }
    }

    /// Returns the URL that a `Location` field means here (RFC 9110 §10.2.2), under the same rules as any source URL.
    ///
    /// A reference with a scheme or an authority of its own is read strictly; a space in it is taken as `%20`.
    public func resolving(location: String) throws(SourceURLError) -> SourceURL {
        let reference = location.replacing(" ", with: "%20")
        if SourceURLSyntax.hasScheme(reference) { return try SourceURL(parsing: reference) }
        if reference.hasPrefix("//") { return try SourceURL(parsing: scheme + ":" + reference) }
        try SourceURLSyntax.checkCharacters(reference)
        return try SourceURL(parsing: absolute(reference))
    }

    /// What a reference without scheme and authority means here, dot segments not yet removed (RFC 3986 §5.2.2).
    private func absolute(_ reference: String) -> String {
        let root = String(normalized.dropLast(path.count + (query.map { $0.count + 1 } ?? 0)))
        switch reference.first {
        // The same document: its query stays.
        case nil, "#": return normalized
        case "?": return root + path + reference
        case "/": return root + reference
        default: return root + path[...(path.lastIndex(of: "/") ?? path.startIndex)] + reference
        }
    }

    /// Takes the parts of a URL in normal form.
    init(normalized: String, origin: Origin, path: String, query: String?) {
        self.normalized = normalized
        self.origin = origin
        self.path = path
        self.query = query
    }

    private init(_ url: consuming CurlURL) throws(SourceURLError) {
        let scheme = url.scheme.lowercased()
        let host = url.host.lowercased()
        guard HostSyntax.isValid(host) else { throw .invalidHost }
        guard let port = Int(url.port), (1...65_535).contains(port) else { throw .invalidPort }
        let path = url.path
        // An empty query is none: libcurl drops the lone question mark when it sends the request.
        let query = url.query.flatMap { $0.isEmpty ? nil : $0 }
        let authority = port == SourceURLSyntax.defaultPort(of: scheme) ? host : "\(host):\(port)"
        let normalized = "\(scheme)://\(authority)\(path)\(query.map { "?" + $0 } ?? "")"
        guard normalized.utf8.count <= Self.maxBytes else { throw .tooLong }
        self.normalized = normalized
        self.path = path
        self.query = query
        origin = Origin(scheme: scheme, host: host, port: port)
    }
}

extension SourceURL: Hashable {
    /// Equal when normalised alike.
    public static func == (left: SourceURL, right: SourceURL) -> Bool { left.normalized == right.normalized }

    /// Hashes the normalised URL.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(normalized)
    }
}

extension SourceURL: CustomStringConvertible {
    /// The normalised URL.
    public var description: String { normalized }
}

extension SourceURLError {
    fileprivate init(_ failure: any Error) {
        switch failure {
        case let error as SourceURLError: self = error
        case CurlURL.Failure.userInfo: self = .userInfo
        case CurlURL.Failure.badPort: self = .invalidPort
        case CurlURL.Failure.badHost: self = .invalidHost
        case CurlURL.Failure.other(let reason): self = .malformed(reason)
        default: self = .malformed("unknown")
        }
    }
}
