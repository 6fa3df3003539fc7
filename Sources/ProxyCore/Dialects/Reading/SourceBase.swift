// SPDX-License-Identifier: Apache-2.0

import Primitives
import URLs

/// Where sources come from that a dialect's URL names by their path alone.
struct SourceBase: Sendable, Hashable {
    /// An absolute URL that ends with a slash.
    private let url: String

    /// Wraps an absolute URL; a slash is added where it has none at its end.
    init(_ url: String) {
        self.url = url.hasSuffix("/") ? url : url + "/"
    }

    /// Reads the base of a setting; nil where that is empty.
    init?(_ url: String, setting: String) throws(TranslationError) {
        try Self.check(url, setting: setting)
        guard !url.isEmpty else { return nil }
        self.init(url)
    }

    /// Refuses a base that begins no source, unless it is empty.
    static func check(_ url: String, setting: String) throws(TranslationError) {
        guard url.isEmpty || url.hasHTTPScheme || url.hasPrefix("s3://") || url.hasPrefix("gs://") else {
            throw TranslationError(
                .invalid, setting, "'\(url.excerpt)' begins with no scheme of sources, such as https://")
        }
    }

    /// Appends a path, with a query perhaps, percent-encoded as in a URL.
    ///
    /// - Throws: `.invalid` if the path could lead out of the base.
    func joined(_ path: some StringProtocol, option: String) throws(TranslationError) -> String {
        let path = path.hasPrefix("/") ? path.dropFirst() : path[...]
        try Self.refuseDotSegments(in: path, option: option)
        return url + PercentText.url(Array(path.utf8))
    }

    /// Refuses a path that could lead out of the base that it is appended to.
    static func refuseDotSegments(
        in path: some StringProtocol, option: String
    ) throws(TranslationError) {
        // A fragment is never sent, and ends the path as a query does; as bytes, because a combining mark may follow.
        let end = path.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        let segments = path[..<(end ?? path.endIndex)]
        let plain = String(decoding: PercentText.decoded(segments), as: UTF8.self)
        guard !URLPattern.hidesDotSegment("/" + plain) else {
            throw TranslationError(.invalid, option, "the path has a segment '.' or '..'")
        }
    }
}

extension String {
    /// Whether the text begins with `http://` or `https://`, in any case.
    var hasHTTPScheme: Bool {
        let start = prefix(8).lowercased()
        return start.hasPrefix("http://") || start == "https://"
    }
}
