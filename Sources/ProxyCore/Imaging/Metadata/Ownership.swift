// SPDX-License-Identifier: Apache-2.0

/// The artist and the copyright of a picture, which are kept when metadata is removed.
struct Ownership: Equatable {
    /// The copyright notice.
    var copyright: String?
    /// The artist's name.
    var artist: String?

    /// The maximum number of bytes of each.
    private static let limit = 1_000
}

extension Ownership {
    /// Reads the first non-empty text of each from the kinds of metadata.
    init(exif: [UInt8]?, iptc: [UInt8]?, xmp: [UInt8]?, comments: [String: String]) {
        let block = exif.flatMap { ExifBlock($0) }
        copyright = Self.first([
            block?.text(.copyright), iptc.flatMap { Self.dataSet(116, in: $0) },
            xmp.flatMap { Self.element("dc:rights", in: $0) }, comments["Copyright"],
        ])
        artist = Self.first([
            block?.text(.artist), iptc.flatMap { Self.dataSet(80, in: $0) },
            xmp.flatMap { Self.element("dc:creator", in: $0) }, comments["Author"],
        ])
    }

    /// Whether both are absent.
    var isEmpty: Bool { copyright == nil && artist == nil }

    /// Returns the texts that another one lacks.
    func without(_ other: Ownership) -> Ownership {
        var rest = self
        if other.copyright != nil { rest.copyright = nil }
        if other.artist != nil { rest.artist = nil }
        return rest
    }

    /// Both as one line of text, for formats with a single field.
    var line: String {
        [artist.map { "Author: \($0)" }, copyright.map { "Copyright: \($0)" }].compactMap { $0 }
            .joined(separator: "; ")
    }

    private static func first(_ texts: [String?]) -> String? {
        texts.lazy.compactMap { $0.flatMap(cleaned) }.first
    }

    /// The text without control characters and surrounding space, cut to the limit; nil if it is then empty. Scalar by scalar: a
    /// `Character` of a hostile text can be as long as that.
    private static func cleaned(_ text: String) -> String? {
        var result = String.UnicodeScalarView()
        var byteCount = 0
        for scalar in text.unicodeScalars where scalar.properties.generalCategory != .control {
            if result.isEmpty, scalar.properties.isWhitespace { continue }
            byteCount += UTF8.width(scalar)
            guard byteCount <= limit else { break }
            result.append(scalar)
        }
        while result.last?.properties.isWhitespace == true { result.removeLast() }
        return result.isEmpty ? nil : String(result)
    }

    /// A text in UTF-8, else in Latin-1: programs write both where the standards want ASCII.
    static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    /// The value of a data set of the application record (IPTC-IIM 4.2 §1.6), at any position of the block.
    private static func dataSet(_ number: UInt8, in block: [UInt8]) -> String? {
        let mark: [UInt8] = [0x1C, 0x02, number]
        guard block.count > 5 else { return nil }
        for start in 0..<block.count - 5
        where block[start] == 0x1C && block[start..<start + 3].elementsEqual(mark) {
            let length = block.number(at: start + 3, length: 2) ?? 0
            let end = start + 5 + length
            guard (1...0x7FFF).contains(length), end <= block.count else { continue }
            return text(block[start + 5..<end])
        }
        return nil
    }

    /// The first text within an XMP element, as in `<dc:rights><rdf:Alt><rdf:li>…`.
    private static func element(_ name: String, in packet: [UInt8]) -> String? {
        guard let start = place(of: "<\(name)", in: packet[...])?.upperBound,
            let end = place(of: "</\(name)", in: packet[start...])?.lowerBound
        else { return nil }
        var content = packet[start..<end]
        if let item = place(of: "<rdf:li", in: content) { content = content[item.upperBound...] }
        guard let open = content.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        let text = content[(open + 1)...].prefix { $0 != UInt8(ascii: "<") }
            .drop { $0 <= UInt8(ascii: " ") }.prefix(longestEntity * limit)
        return unescaped(Substring(decoding: text, as: UTF8.self))
    }

    /// Where a text that begins with `<` is first.
    private static func place(of text: String, in bytes: ArraySlice<UInt8>) -> Range<Int>? {
        var rest = bytes
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[start...]
            if rest.starts(with: text.utf8) { return start..<start + text.utf8.count }
            rest = rest.dropFirst()
        }
        return nil
    }

    private static func unescaped(_ text: Substring) -> String {
        var result = ""
        var rest = text
        while let mark = rest.firstIndex(of: "&") {
            result += rest[..<mark]
            rest = rest[mark...]
            let entity = entities.first { rest.hasPrefix($0.key) }
            result += entity?.value ?? "&"
            rest = rest.dropFirst(entity?.key.count ?? 1)
        }
        return result + rest
    }

    private static let longestEntity = 6
    private static let entities = ["&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": "\"", "&apos;": "'"]
}
