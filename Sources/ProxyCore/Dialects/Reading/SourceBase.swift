// SPDX-License-Identifier: Apache-2.0

import URLs

/// Where sources come from that a foreign URL names by their path alone.
struct SourceBase: Sendable, Hashable {
    /// An absolute URL that ends with a slash.
    private let url: String

    /// Wraps an absolute URL; a slash is added where it has none at its end.
    init(_ url: String) {
        self.url = url.hasSuffix("/") ? url : url + "/"
    }

    /// Appends a path, with a query perhaps, percent-encoded as in a URL.
    ///
    /// - Throws: `.invalid` if the path could lead out of the base.
    func joined(_ path: some StringProtocol, option: String) throws(TranslationError) -> String {
        let path = path.hasPrefix("/") ? path.dropFirst() : path[...]
        // A fragment is never sent, and ends the path as a query does.
        let segments = path.prefix { $0 != "?" && $0 != "#" }
        let plain = String(decoding: PercentText.decoded(segments), as: UTF8.self)
        guard !URLPattern.hidesDotSegment("/" + plain) else {
            throw TranslationError(.invalid, option, "the path has a segment '.' or '..'")
        }
        return url + PercentText.url(Array(path.utf8))
    }
}

extension String {
    /// Whether the text begins with `http://` or `https://`, in any case.
    var hasHTTPScheme: Bool {
        let start = prefix(8).lowercased()
        return start.hasPrefix("http://") || start == "https://"
    }
}
