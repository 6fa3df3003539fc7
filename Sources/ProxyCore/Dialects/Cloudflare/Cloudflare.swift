// SPDX-License-Identifier: Apache-2.0

package import Primitives
import URLs

/// The URLs of Cloudflare's image resizing: `/cdn-cgi/image/width=300,format=auto/photo.jpg`.
package struct Cloudflare: Dialect {
    package static let name = "cloudflare"

    /// The settings of the dialect.
    package struct Settings: DialectSettings {
        package var base = ""
        package var allowedHosts = ["*"]

        /// Creates the default settings.
        package init() {}

        package static let settings = SettingTable<Self>("How URLs of Cloudflare Images are read.") {
            Setting(
                "base", \.base,
                """
                The URL that a source's path is appended to, such as `https://www.example.org/`; without
                one only absolute URLs are sources.
                """)
            Setting(
                "allowedHosts", \.allowedHosts,
                """
                The hosts that absolute URLs may name, such as `example.org` or `*.example.org`; `*`
                allows all.
                """)
        }
    }

    private var base: SourceBase?
    private var hosts: HostList

    /// Creates the dialect; it has no signatures.
    ///
    /// - Throws: the setting that is wrong, with why.
    package init(_ settings: Settings = Settings(), keys: [[UInt8]] = []) throws(TranslationError) {
        base = try SourceBase(settings.base, setting: "base")
        hosts = HostList(settings.allowedHosts)
    }

    package func withoutAccessChecks(at site: String?) -> Cloudflare {
        var dialect = self
        dialect.base = base ?? site.map { SourceBase($0) }
        dialect.hosts = HostList(["*"])
        return dialect
    }

    private static let start = "/cdn-cgi/image/"

    package func translate(_ target: DialectTarget) throws(TranslationError) -> Translation {
        guard target.path.hasPrefix(Self.start) else {
            throw TranslationError(.notFound, "", "a path begins with \(Self.start)")
        }
        let rest = target.path.dropFirst(Self.start.count)
        guard let slash = rest.firstIndex(of: "/") else {
            throw TranslationError(.invalid, "", "options are followed by '/' and a source")
        }
        var options = try CloudflareOptions(rest[..<slash])
        var translation = Translation()
        translation["url"] = try source(rest[rest.index(after: slash)...], target.query)
        try options.write(to: &translation)
        return translation
    }

    /// The source's URL: the rest as it stands, or percent-encoded, or a path.
    private func source(_ rest: Substring, _ query: String?) throws(TranslationError) -> String {
        let question = query.map { "?" + $0 } ?? ""
        if let absolute = Self.absolute(rest) {
            let url = absolute.contains("?") ? absolute : absolute + question
            guard hosts.allows(url) else {
                throw TranslationError(.forbidden, "source", "its host is none of allowedHosts")
            }
            return url
        }
        guard let base else {
            throw TranslationError(
                .forbidden, "source",
                "an absolute URL is needed, since the dialect's setting 'base' is empty")
        }
        return try base.joined(rest + question, option: "source")
    }

    /// The rest of the path as an absolute URL; nil if it is none.
    ///
    /// Some servers in front make one slash of two.
    private static func absolute(_ rest: Substring) -> String? {
        var text = PercentText.url(Array(rest.utf8))
        let decoded = PercentText.url(PercentText.decoded(rest))
        if !text.hasHTTPScheme, decoded.hasHTTPScheme { text = decoded }
        guard !text.hasHTTPScheme else { return text }
        for scheme in ["http:/", "https:/"] where text.lowercased().hasPrefix(scheme) {
            return scheme + "/" + text.dropFirst(scheme.count)
        }
        return nil
    }
}
