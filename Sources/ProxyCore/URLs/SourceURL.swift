// SPDX-License-Identifier: Apache-2.0

/// An absolute `http` or `https` URL of a source, normalized by libcurl's URL API.
///
/// Two spellings of one resource that differ in case of scheme or host, default port, dot segments or
/// fragment are equal. libcurl gets exactly `normalized` for the transfer, so the URL that is checked is the
/// URL that is fetched.
package struct SourceURL: Sendable {
    /// Scheme and host in lower case; default port, dot segments and fragment removed; other escapes as
    /// given.
    ///
    /// In path and query, characters that a URI can't contain are percent-encoded, and so is a `%` that
    /// begins no escape: a request line contains a URI (RFC 9112 §3.2).
    package let normalized: String
    /// The scheme, host and port.
    package let origin: Origin
    /// The path, beginning with `/`, escapes as given.
    package let path: String
    /// The query without its question mark; nil if there is none.
    package let query: String?

    /// The maximum length of a URL in bytes, before and after normalization; a longer one is
    /// `SourceURLError.tooLong`.
    package static let maxBytes = 8_192

    /// A scheme, host and port: the key of connections, limits per host and breakers.
    package struct Origin: Sendable, Hashable {
        /// `http` or `https`.
        package let scheme: String
        /// The host in lower case; an IPv6 address in brackets.
        package let host: String
        /// The port, 1–65535.
        package let port: Int
    }

    /// `http` or `https`.
    package var scheme: String { origin.scheme }
    /// The host in lower case; an IPv6 address in brackets.
    package var host: String { origin.host }
    /// The port, 1–65535.
    package var port: Int { origin.port }

    /// The address if the host is an address; nil for a name.
    package var literalAddress: IPAddress? {
        host.hasPrefix("[") ? IPAddress(String(host.dropFirst().dropLast())) : IPAddress(host)
    }

}

extension SourceURL {
    /// Parses an absolute URL.
    /// - Throws: why it is invalid; only the equivalences of RFC 3986 §6.2.2 and §6.2.3 are normalized,
    ///   nothing is repaired.
    package init(parsing text: String) throws(SourceURLError) {
        if let plain = SourceURL(plain: text) {
            self = plain
            return
        }
        self = try SourceURL(normalizing: text)
    }

    /// Parses any URL with libcurl.
    init(normalizing text: String) throws(SourceURLError) {
        try SourceURLSyntax.check(text)
        do {
            try self.init(
                CurlURL.parsing(SourceURLSyntax.decodingDots(SourceURLSyntax.percentEncoding(text))))
        } catch {
            throw SourceURLError(error)
        }
    }

    /// Returns the URL that a `Location` field refers to from here (RFC 9110 §10.2.2), under the rules of
    /// source URLs.
    ///
    /// A reference with its own scheme or authority is parsed strictly; a space in it counts as `%20`.
    package func resolving(location: String) throws(SourceURLError) -> SourceURL {
        let reference = location.replacing(" ", with: "%20")
        if SourceURLSyntax.hasScheme(reference) { return try SourceURL(parsing: reference) }
        if reference.hasPrefix("//") { return try SourceURL(parsing: scheme + ":" + reference) }
        try SourceURLSyntax.checkCharacters(reference)
        return try SourceURL(parsing: absolute(reference))
    }

    /// The origin of a `Location` with another scheme or with a user name, for the log; nil where it names no host.
    ///
    /// The port is 0 where another scheme's default is meant.
    package func origin(ofRefused location: String) -> Origin? {
        guard let slashes = location.firstRange(of: "//") else { return nil }
        let authority = location[slashes.upperBound...].prefix { !"/?#".contains($0) }
        guard let host = authority.split(separator: "@").last else { return nil }
        let named = location[..<slashes.lowerBound].dropLast().lowercased()
        let scheme = named.isEmpty ? self.scheme : named
        let isHTTP = SourceURLSyntax.defaultPort(of: scheme) != nil
        // Ignored: what is wrong with its host; the reason for the refusal is another one.
        guard let url = try? SourceURL(parsing: "\(isHTTP ? scheme : "http")://\(host)") else { return nil }
        return Origin(scheme: scheme, host: url.host, port: isHTTP || url.port != 80 ? url.port : 0)
    }

    /// Resolves a reference without scheme and authority; dot segments are not yet removed (RFC 3986 §5.2.2).
    private func absolute(_ reference: String) -> String {
        let root = String(normalized.dropLast(path.count + (query.map { $0.count + 1 } ?? 0)))
        switch reference.first {
        // A reference to the same document keeps the query.
        case nil, "#": return normalized
        case "?": return root + path + reference
        case "/": return root + reference
        default: return root + path[...(path.lastIndex(of: "/") ?? path.startIndex)] + reference
        }
    }

    private init(_ url: consuming CurlURL) throws(SourceURLError) {
        let scheme = url.scheme.lowercased()
        let host = url.host.lowercased()
        guard HostSyntax.isValid(host) else { throw .invalidHost }
        guard let port = Int(url.port), (1...65_535).contains(port) else { throw .invalidPort }
        let path = url.path
        // An empty query equals none: libcurl drops a lone question mark when it sends the request.
        let query = url.query.flatMap { $0.isEmpty ? nil : $0 }
        let authority = port == SourceURLSyntax.defaultPort(of: scheme) ? host : "\(host):\(port)"
        let normalized = "\(scheme)://\(authority)\(path)\(query.map { "?" + $0 } ?? "")"
        guard normalized.utf8.count <= Self.maxBytes else { throw .tooLong }
        self.init(
            normalized: normalized, origin: Origin(scheme: scheme, host: host, port: port), path: path,
            query: query)
    }
}

extension SourceURL: Hashable {
    /// Compares normalized URLs.
    package static func == (left: SourceURL, right: SourceURL) -> Bool { left.normalized == right.normalized }

    /// Hashes the normalized URL.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(normalized)
    }
}

extension SourceURL: CustomStringConvertible {
    package var description: String { normalized }
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
