// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Guesses by the form of a URL which image proxy it is for.
enum DialectGuess {
    /// The name of a dialect; nil where the form is none that is known.
    ///
    /// - Parameter url: a URL, or its path and query.
    static func dialect(of url: String) -> String? {
        let parts = Parts(url)
        return rules.first { $0.fits(parts) }?.dialect
    }

    /// What the rules look at.
    private struct Parts {
        let host: Substring
        let path: Substring
        let query: Substring
        let segments: [Substring]

        init(_ url: String) {
            let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
            host = url.hasPrefix("/") ? "" : rest.prefix { $0 != "/" }
            let target = url.hasPrefix("/") ? url[...] : rest.drop { $0 != "/" }
            path = target.prefix { $0 != "?" }
            query = target.dropFirst(path.count + 1)
            segments = path.split(separator: "/")
        }

        /// Whether the query has a parameter of this name.
        func has(_ name: String) -> Bool {
            query.split(separator: "&").contains { $0.prefix { $0 != "=" } == name }
        }
    }

    /// The first that fits counts: those of an unmistakable path come before those of a usual one.
    private static let rules: [(dialect: String, fits: @Sendable (Parts) -> Bool)] = [
        ("cloudflare", { $0.path.contains("/cdn-cgi/image/") }),
        ("nextjs", { $0.path.hasSuffix("/_next/image") || $0.path.hasSuffix("/_vercel/image") }),
        ("weserv", { isWeserv($0) }),
        ("imgix", { $0.host.hasSuffix(".imgix.net") }),
        ("imaginary", { isImaginary($0) }),
        ("imgproxy", { isImgproxy($0) }),
        ("thumbor", { isThumbor($0) }),
        ("imgix", { isImgix($0) }),
    ]

    private static func isWeserv(_ parts: Parts) -> Bool {
        parts.host == "wsrv.nl" || parts.host.hasSuffix("weserv.nl")
            || parts.segments.isEmpty && parts.has("url")
    }

    private static let imaginaryPaths: Set<Substring> = [
        "resize", "enlarge", "extract", "crop", "smartcrop", "rotate", "autorotate", "flip", "flop",
        "thumbnail",
        "zoom", "convert", "watermark", "watermarkimage", "blur", "pipeline", "info", "fit",
    ]

    private static func isImaginary(_ parts: Parts) -> Bool {
        guard let operation = parts.segments.last, parts.segments.count <= 2 else { return false }
        return imaginaryPaths.contains(operation) && !parts.query.isEmpty
    }

    /// `/SIGNATURE/OPTIONS/plain/URL`, or the URL in base64: options have a name before `:`.
    private static func isImgproxy(_ parts: Parts) -> Bool {
        guard parts.segments.count >= 2 else { return false }
        if parts.segments.dropFirst().prefix(maxSegments).contains(where: { $0 == "plain" || $0 == "enc" }) {
            return true
        }
        let option = parts.segments[1]
        guard let mark = option.firstIndex(of: ":") else {
            return parts.segments.count == 2 && isBase64URL(option)
        }
        let name = option[..<mark]
        return !name.isEmpty && !["filters", "http", "https"].contains(name)
            && name.allSatisfy { $0.isASCII && ($0.isLowercase || $0 == "_" || $0.isNumber) }
            && !isSize(name)
    }

    /// As many options of imgproxy are looked at.
    private static let maxSegments = 64

    /// Whether a segment is a URL in base64url: `http` begins with these letters.
    private static func isBase64URL(_ segment: Substring) -> Bool { segment.hasPrefix("aHR0c") }

    /// `/unsafe/…` or `/SIGNATURE/…` and a source that is a URL or a path behind sizes and filters.
    private static func isThumbor(_ parts: Parts) -> Bool {
        guard let first = parts.segments.first else { return false }
        return first == "unsafe" || parts.path.contains("/filters:")
            || parts.segments.prefix(maxSegments).contains(where: isSize)
            || first.utf8.count == signatureLength && parts.segments.count > 1
    }

    /// A path, or a URL as a single segment of it, with parameters of imgix.
    private static func isImgix(_ parts: Parts) -> Bool {
        parts.path.hasPrefix("/http%3A%2F%2F") || parts.path.hasPrefix("/https%3A%2F%2F")
            || ["w", "h", "fit", "auto", "fm", "q", "crop", "rect", "dpr"].contains(where: parts.has)
    }

    /// The length of thumbor's signature: SHA-1 in base64url.
    private static let signatureLength = 28

    /// `300x200`, with a sign for each side that is mirrored.
    private static func isSize(_ segment: Substring) -> Bool {
        let sides = segment.split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2, segment.contains(where: \.isNumber) else { return false }
        return sides.allSatisfy { $0.utf8.drop { $0 == UInt8(ascii: "-") }.allSatisfy(\.isASCIIDigit) }
    }
}
