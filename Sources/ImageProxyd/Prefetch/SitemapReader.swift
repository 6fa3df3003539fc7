// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Reads a sitemap or an index of sitemaps piece by piece (sitemaps.org, and Google's extension for images).
///
/// A small reader of the XML that sitemaps are: no document type, so that there are no entities but the five of XML
/// itself, and bounds for depth, names and URLs. Pure; memory does not depend on the sitemap's length.
struct SitemapReader {
    /// What a sitemap names.
    enum Entry: Equatable {
        /// `<image:loc>`.
        case image(String)
        /// `<loc>` of a page, which may be a picture itself.
        case page(String)
        /// `<loc>` of a sitemap in an index.
        case sitemap(String)
    }

    /// Why it can't be read, and in which line.
    struct Problem: Error, Equatable, CustomStringConvertible {
        let line: Int
        let reason: String
        var description: String { "line \(line): \(reason)" }
    }

    private enum State: Equatable {
        case text
        /// Behind `<`: what it begins is not known yet.
        case markup
        /// In a tag; the quote that its present value ends with.
        case tag(quote: UInt8?)
        /// In a comment, CDATA section or processing instruction, up to its end.
        case skipped(until: [UInt8])
        case cdata
    }

    private var state = State.text
    /// The bytes of the present markup, as far as they matter, and the last ones of what is skipped.
    private var markup: [UInt8] = []
    /// The local names of the open elements.
    private var path: [String] = []
    /// The text of the present `loc`; nil outside.
    private var text: [UInt8]?
    /// Where the reference begins that the text may end with.
    private var reference: Int?
    private var line = 1
    private var hasRoot = false

    /// Elements inside each other; sitemaps need four.
    static let maxDepth = 16
    /// Bytes of a tag: more than any namespace declaration needs.
    static let maxTagBytes = 16 << 10
    /// Bytes of a URL, with references.
    static let maxURLBytes = 8 << 10
    /// Bytes of a reference such as `&#x1F5BC;`.
    private static let maxReferenceBytes = 12

    private static let comment = Array("-->".utf8)
    private static let cdataEnd = Array("]]>".utf8)
    private static let instruction = Array("?>".utf8)

    /// Reads the next bytes, and passes on what they complete.
    mutating func read(
        _ bytes: some Sequence<UInt8>, _ next: (Entry) throws -> Void
    ) throws {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") { line += 1 }
            switch state {
            case .text:
                if byte == UInt8(ascii: "<") {
                    (state, markup) = (.markup, [])
                } else {
                    try append(byte)
                }
            case .markup: try begin(byte, next)
            case .tag(let quote): try readTag(byte, quote, next)
            case .skipped(let end):
                markup.append(byte)
                if markup.count > end.count { markup.removeFirst() }
                if markup == end { state = .text }
            case .cdata:
                markup.append(byte)
                guard markup.count > 2 else { break }
                if markup == Self.cdataEnd {
                    state = .text
                } else {
                    try append(markup.removeFirst(), isLiteral: true)
                }
            }
        }
    }

    /// Checks that nothing is missing.
    func finish() throws {
        guard hasRoot else { throw problem("it is no XML") }
        guard path.isEmpty, state == .text else {
            throw problem("it ends within \(path.last.map { "<\($0)>" } ?? "a tag")")
        }
    }

    private func problem(_ reason: String) -> Problem { Problem(line: line, reason: reason) }

    // MARK: - Markup

    /// The first bytes behind `<`.
    private mutating func begin(_ byte: UInt8, _ next: (Entry) throws -> Void) throws {
        markup.append(byte)
        switch markup[0] {
        case UInt8(ascii: "?"): (state, markup) = (.skipped(until: Self.instruction), [])
        case UInt8(ascii: "!"):
            let text = String(decoding: markup, as: UTF8.self)
            switch text {
            case "!--": (state, markup) = (.skipped(until: Self.comment), [])
            case "![CDATA[": (state, markup) = (.cdata, [])
            default:
                guard "![CDATA[".hasPrefix(text) || "!--".hasPrefix(text) else {
                    throw problem("a document type is not accepted in a sitemap: it could define entities")
                }
            }
        default:
            markup = []
            state = .tag(quote: nil)
            try readTag(byte, nil, next)
        }
    }

    private mutating func readTag(_ byte: UInt8, _ quote: UInt8?, _ next: (Entry) throws -> Void) throws {
        if let quote {
            if byte == quote { state = .tag(quote: nil) }
        } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
            state = .tag(quote: byte)
        } else if byte == UInt8(ascii: ">") {
            state = .text
            return try endTag(next)
        } else if byte == UInt8(ascii: "<") {
            throw problem("'<' within a tag")
        }
        guard markup.count < Self.maxTagBytes else {
            throw problem("a tag has more than \(Self.maxTagBytes) bytes")
        }
        markup.append(byte)
    }

    private mutating func endTag(_ next: (Entry) throws -> Void) throws {
        let isEnd = markup.first == UInt8(ascii: "/")
        let name = Self.localName(markup.dropFirst(isEnd ? 1 : 0))
        guard !name.isEmpty else { throw problem("a tag without a name") }
        if isEnd { return try close(name, next) }
        guard path.count < Self.maxDepth else {
            throw problem("elements are nested deeper than \(Self.maxDepth)")
        }
        guard !path.isEmpty || !hasRoot else { throw problem("something follows the end of the sitemap") }
        if !hasRoot, name != "urlset", name != "sitemapindex" {
            throw problem(
                "it is no sitemap: its element is <\(name.excerpt)>, not <urlset> or <sitemapindex>")
        }
        hasRoot = true
        guard markup.last != UInt8(ascii: "/") else { return }
        path.append(name)
        // A loc inside a loc has no text.
        (text, reference) = (name == "loc" ? [] : nil, nil)
    }

    private mutating func close(_ name: String, _ next: (Entry) throws -> Void) throws {
        guard path.last == name else {
            throw problem("</\(name.excerpt)> where \(path.last.map { "</\($0)>" } ?? "nothing") is expected")
        }
        path.removeLast()
        defer { text = nil }
        guard name == "loc", let bytes = text, let entry = try entry(Self.trimmed(bytes)) else { return }
        try next(entry)
    }

    private func entry(_ bytes: ArraySlice<UInt8>) throws -> Entry? {
        guard !bytes.isEmpty else { return nil }
        guard let url = String(validating: bytes, as: UTF8.self) else { throw problem("a URL is not UTF-8") }
        switch path.last {
        case "image": return .image(url)
        case "url": return .page(url)
        case "sitemap": return .sitemap(url)
        default: return nil
        }
    }

    /// A name without its prefix; without attributes.
    private static func localName(_ bytes: ArraySlice<UInt8>) -> String {
        let name = bytes.prefix { $0 > 0x20 && $0 != UInt8(ascii: "/") }
        let local = name.lastIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] } ?? name
        return String(decoding: local.prefix(64), as: UTF8.self)
    }

    private static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        let start = bytes.drop { $0 <= 0x20 }
        guard let last = start.lastIndex(where: { $0 > 0x20 }) else { return [] }
        return start[...last]
    }

    // MARK: - Text

    private mutating func append(_ byte: UInt8, isLiteral: Bool = false) throws {
        guard text != nil else {
            guard hasRoot || byte <= 0x20 || [0xEF, 0xBB, 0xBF].contains(byte) else {
                throw problem("it is no XML")
            }
            return
        }
        text?.append(byte)
        let count = text?.count ?? 0
        guard count <= Self.maxURLBytes else {
            throw problem("a URL has more than \(Self.maxURLBytes) bytes")
        }
        guard !isLiteral else { return }
        if byte == UInt8(ascii: "&") { reference = count - 1 }
        guard byte == UInt8(ascii: ";"), let start = reference else { return }
        reference = nil
        if count - start <= Self.maxReferenceBytes { try resolveReference(at: start) }
    }

    /// Replaces the reference that the text ends with.
    private mutating func resolveReference(at start: Int) throws {
        guard let bytes = text else { return }
        let name = String(decoding: bytes[(start + 1)...].dropLast(), as: UTF8.self)
        guard let character = try character(named: name) else { return }
        text = Array(bytes[..<start]) + Array(String(character).utf8)
    }

    private func character(named name: String) throws -> Unicode.Scalar? {
        if let character = xmlCharacter(named: name), character.value > 0x20 { return character }
        // Many sitemaps have a bare '&' in a query, which ends in no ';'.
        guard name.utf8.allSatisfy({ $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "/") }) else { return nil }
        throw problem(
            "'&\(name);' is no reference of XML: only amp, lt, gt, quot, apos and numbers are known")
    }
}
