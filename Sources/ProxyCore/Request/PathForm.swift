// SPDX-License-Identifier: Apache-2.0

import Primitives
import URLs

/// Targets of `/img` whose parameters stand in the path: `/img/NAME=VALUE/…/SOURCE`.
///
/// They are another way of writing a query, `/img?NAME=VALUE&…&url=SOURCE`, and no grammar of their own: that text
/// is what is signed and what is read.
package struct PathForm {
    /// What such a path begins with.
    package static let prefix = Array("/img/".utf8)

    /// The options as they stand, without a signature.
    private var options: [ArraySlice<UInt8>] = []
    /// `sig=…`, if there is one.
    private var signature: ArraySlice<UInt8>?
    /// The source as it stands, behind the last option.
    private let source: ArraySlice<UInt8>

    private static let sourceName = "url"

    /// The query form of a target; a target without options in its path stays as it is.
    ///
    /// - Throws: `.missingParameter` without a source; `.invalidParameter` for what would be ambiguous, or is changed
    ///   by proxies.
    package static func query(of target: [UInt8]) throws(ImageRequestError) -> [UInt8] {
        target.starts(with: prefix) ? try PathForm(target).query : target
    }

    /// Divides a target that begins with `prefix`.
    private init(_ target: [UInt8]) throws(ImageRequestError) {
        // As parts of the source both would end the parameter that it becomes. And what is behind a `?` is not in the
        // path, by which caches that ignore queries distinguish pictures.
        guard !target.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "&") }) else {
            throw Self.error("in a path, '?' and '&' of the source are written as %3F and %26")
        }
        var rest = target[Self.prefix.count...]
        while let slash = rest.firstIndex(of: UInt8(ascii: "/")), Self.isOption(rest[..<slash]) {
            options.append(rest[..<slash])
            rest = rest[(slash + 1)...]
        }
        guard !rest.isEmpty else { throw .missingParameter(Self.sourceName) }
        guard !Self.isOption(rest) else {
            throw Self.error("the last part of a path is the source; base64url has no padding")
        }
        // Proxies resolve them, also encoded ones, and would lead to another source, or to other options.
        guard !URLPattern.hidesDotSegment(String(decoding: percentDecoded(rest).bytes, as: UTF8.self)) else {
            throw Self.error("a path has no segments '.' and '..'")
        }
        if let last = options.last, last.starts(with: "sig=".utf8) { signature = options.removeLast() }
        source = rest
    }

    private static func error(_ reason: String) -> ImageRequestError {
        .invalidParameter(name: sourceName, position: 0, reason: reason)
    }

    /// Whether a segment is `name=…`. A source is none: it has a `:` or `%` before any `=`, or is base64url.
    private static func isOption(_ segment: ArraySlice<UInt8>) -> Bool {
        guard let equals = segment.firstIndex(of: UInt8(ascii: "=")), equals > segment.startIndex else {
            return false
        }
        return segment[..<equals].allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "_") }
    }

    // MARK: - The query form

    private var query: [UInt8] {
        signature.map { signedText + [UInt8(ascii: "&")] + $0 } ?? signedText
    }

    /// The query form without the signature.
    private var signedText: [UInt8] {
        let (name, value, format) = namedSource
        let parameters =
            options + (format.map { [("format=".utf8 + $0)[...]] } ?? []) + [("\(name)=".utf8 + value)[...]]
        return Array("/img?".utf8) + parameters.joined(separator: "&".utf8)
    }

    /// The source as a parameter, and the format that it ends with.
    private var namedSource: (name: String, value: [UInt8], format: ArraySlice<UInt8>?) {
        guard source.contains(where: { ":%/".utf8.contains($0) }) else {
            let stop = source.lastIndex(of: UInt8(ascii: "."))
            return ("url64", Array(source[..<(stop ?? source.endIndex)]), stop.map { source[($0 + 1)...] })
        }
        let at = source.lastIndex(of: UInt8(ascii: "@"))
        let ending = at.map { source[($0 + 1)...] } ?? []
        // A density is none: `cat@2x`.
        guard let at, !ending.isEmpty, ending.allSatisfy(\.isASCIILetter) else {
            return (Self.sourceName, Self.withTwoSlashes(source), nil)
        }
        return (Self.sourceName, Self.withTwoSlashes(source[..<at]), ending)
    }

    /// Gives `https:/host` its second slash back, which proxies remove that merge slashes.
    private static func withTwoSlashes(_ url: ArraySlice<UInt8>) -> [UInt8] {
        let scheme = url.prefix { $0.isASCIIAlphanumeric || "+-.".utf8.contains($0) }
        let rest = url[scheme.endIndex...]
        guard !scheme.isEmpty, rest.starts(with: ":/".utf8), !rest.starts(with: "://".utf8) else {
            return Array(url)
        }
        return Array(scheme) + "://".utf8 + rest.dropFirst(2)
    }

    // MARK: - Signing

    /// A target with its signature, in the path if its parameters stand there.
    ///
    /// - Throws: as `query(of:)`; `.invalidParameter` if a path has a signature already.
    package static func sign(_ target: String, with key: [UInt8]) throws(ImageRequestError) -> String {
        guard target.utf8.starts(with: prefix) else {
            return SignaturePolicy.sign(target.contains("?") ? target : target + "?", with: key)
        }
        let path = try PathForm(Array(target.utf8))
        guard path.signature == nil else {
            throw .invalidParameter(name: "sig", position: 0, reason: "there is one already")
        }
        let code = SignaturePolicy.code(of: path.signedText, with: key)
        let (start, source) = (Array(target.utf8.dropLast(path.source.count)), path.source)
        return String(decoding: start + "sig=\(code)/".utf8 + source, as: UTF8.self)
    }
}
