// SPDX-License-Identifier: Apache-2.0

extension FetchConfiguration {
    /// Whether `text` names a proxy: a supported scheme, a host and an optional port, and nothing else.
    package static func isProxy(_ text: String) -> Bool {
        let schemes = ["http", "https", "socks5h"]
        guard let scheme = schemes.first(where: { text.lowercased().hasPrefix($0 + "://") }) else {
            return false
        }
        // Parsed by the rules of a source's authority, whatever the scheme.
        let url = try? SourceURL(parsing: "http" + text.dropFirst(scheme.utf8.count))
        return url.map { $0.path == "/" && $0.query == nil } ?? false
    }
}
