// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The last parts of an imgproxy URL: the source, plain or in base64, with the wanted format.
struct ImgproxySource {
    let url: String
    /// The extension that names the format; nil for none.
    let fileExtension: String?

    private static let option = "source"

    /// Reads the parts behind the options.
    init(_ parts: ArraySlice<Substring>, _ settings: ImgproxyDialect.Settings) throws(TranslationError) {
        guard let first = parts.first else { throw Self.missing }
        let (text, ending) =
            try first == "plain"
            ? Self.plain(parts.dropFirst()) : Self.base64(parts, settings.base64IncludesFilename)
        guard !text.isEmpty else { throw Self.missing }
        fileExtension = ending.flatMap { $0.isEmpty ? nil : $0 }
        let (base, isComplete) = (settings.baseURL, text.hasPrefix(settings.baseURL))
        if !base.isEmpty {
            try SourceBase.refuseDotSegments(
                in: text.dropFirst(isComplete ? base.count : 0), option: Self.option)
        }
        url = PercentText.encodingSpaces(isComplete ? text : base + text)
    }

    /// The rest of the path, cut at `@`, decoded once.
    private static func plain(
        _ parts: ArraySlice<Substring>
    ) throws(TranslationError) -> (text: String, ending: String?) {
        let pieces = parts.joined(separator: "/").split(separator: "@", omittingEmptySubsequences: false)
        guard pieces.count <= 2 else {
            throw error(parts, "more than one '@'; one that belongs to it is %40")
        }
        guard let text = percentDecodedText(pieces[0]) else {
            throw error(parts, "'%' must be followed by two hexadecimal digits, and the text be UTF-8")
        }
        return (text, pieces.count == 2 ? String(pieces[1]) : nil)
    }

    /// All parts without their slashes, cut at `.`.
    private static func base64(
        _ parts: ArraySlice<Substring>, _ hasFilename: Bool
    ) throws(TranslationError) -> (text: String, ending: String?) {
        let parts = hasFilename && parts.count > 1 ? parts.dropLast() : parts
        let pieces = parts.joined().split(separator: ".", omittingEmptySubsequences: false)
        guard pieces.count <= 2 else { throw error(parts, "more than one '.'") }
        guard let bytes = LenientBase64.decode(pieces[0].utf8),
            let text = String(validating: bytes, as: UTF8.self)
        else { throw error(parts, "neither plain/URL nor base64url of UTF-8") }
        return (text, pieces.count == 2 ? String(pieces[1]) : nil)
    }

    private static let missing = TranslationError(.invalid, option, "there is none")

    /// Says what was read as the source, which begins with the first part that is no option.
    private static func error(_ parts: ArraySlice<Substring>, _ reason: String) -> TranslationError {
        let text = parts.joined(separator: "/")
        return TranslationError(.invalid, option, "'\(text.excerpt)' was read as the source: \(reason)")
    }

    /// The name in the path, without its extension; nil if there is none.
    var filename: String? {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        guard let slash = path.lastIndex(of: "/"),
            let name = percentDecodedText(path[slash...].dropFirst())
        else { return nil }
        let stem = name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
        return stem.isEmpty ? nil : stem
    }
}

/// base64url with or without padding.
enum LenientBase64 {
    /// Decodes a text; nil for any other character.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var characters = Array(text)
        while characters.last == UInt8(ascii: "=") { characters.removeLast() }
        return Base64.decodeURL(characters)
    }
}
