// SPDX-License-Identifier: Apache-2.0

import Origins
import Primitives
import URLs

/// The form of a URL that AWS Signature Version 4 signs. libcurl 7.88 signs path and query as they are
/// written, so the request has to use this form.
///
/// All characters but unreserved ones (RFC 3986 §2.3) and the path's slashes, also those that were escaped, are
/// percent-encoded in upper case; parameters are sorted, and each has an equals sign ("Create a canonical request" in AWS' documentation). The resource is
/// the same.
enum AWSCanonicalURL {
    /// Returns the URL for the request: in canonical form if the rule signs it.
    static func target(_ url: SourceURL, by rule: OriginRule?) -> String {
        rule?.credentials.signature == nil ? url.normalized : text(of: url.normalized)
    }

    /// Returns a normalized URL in canonical form.
    static func text(of url: String) -> String {
        let bytes = Array(url.utf8)
        let slash = UInt8(ascii: "/")
        // "https://authority/path?query"
        guard let scheme = bytes.firstIndex(of: slash),
            let start = bytes[(scheme + 2)...].firstIndex(of: slash)
        else { return url }
        let end = bytes[start...].firstIndex(of: UInt8(ascii: "?"))
        let path = encoded(bytes[start..<(end ?? bytes.endIndex)], keeping: slash)
        let origin = String(decoding: bytes[..<start], as: UTF8.self)
        guard let end else { return origin + path }
        let query = query(bytes[(end + 1)...])
        return origin + path + (query.isEmpty ? "" : "?" + query)
    }

    private static func query(_ text: ArraySlice<UInt8>) -> String {
        let pairs = text.split(separator: UInt8(ascii: "&")).map { part in
            let sides = part.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return (encoded(sides[0]), sides.count > 1 ? encoded(sides[1]) : "")
        }
        return pairs.sorted { $0 < $1 }.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    private static func encoded(_ text: ArraySlice<UInt8>, keeping kept: UInt8? = nil) -> String {
        percentDecoded(text).bytes.percentEncoded { $0.isUnreserved || $0 == kept }
    }
}
