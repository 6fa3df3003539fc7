// SPDX-License-Identifier: Apache-2.0

import Primitives

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
            block?.text(.copyright), iptc.flatMap { Self.dataSets(116, in: $0) },
            xmp.flatMap { Self.element("dc:rights", in: $0) }, comments["Copyright"],
        ])
        artist = Self.first([
            block?.text(.artist), iptc.flatMap { Self.dataSets(80, in: $0) },
            xmp.flatMap { Self.element("dc:creator", in: $0, all: true) }, comments["Author"],
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

    /// Between several persons, as in EXIF's Artist (Exif 2.32 §4.6.5).
    private static let separator = "; "

    /// The values of a data set of the application record (IPTC-IIM 4.2 §1.6), which may be repeated, at any positions of the block.
    private static func dataSets(_ number: UInt8, in block: [UInt8]) -> String? {
        let mark: [UInt8] = [0x1C, 0x02, number]
        var texts: [String] = []
        var size = 0
        var start = 0
        while size <= limit, start + 5 < block.count {
            guard block[start] == 0x1C, block[start..<start + 3].elementsEqual(mark),
                let length = block.number(at: start + 3, length: 2), (1...0x7FFF).contains(length),
                start + 5 + length <= block.count
            else {
                start += 1
                continue
            }
            let next = start + 5 + length
            if let text = cleaned(text(block[start + 5..<next])) { texts.append(text) }
            size += length
            start = next
        }
        return texts.isEmpty ? nil : texts.joined(separator: separator)
    }

    /// The first text within an XMP element, as in `<dc:rights><rdf:Alt><rdf:li>…`, or all of its list.
    private static func element(_ name: String, in packet: [UInt8], all: Bool = false) -> String? {
        guard let start = place(of: "<\(name)", in: packet[...])?.upperBound,
            let end = place(of: "</\(name)", in: packet[start...])?.lowerBound
        else { return nil }
        var content = packet[start..<end]
        var texts: [String] = []
        var size = 0
        repeat {
            let item = place(of: "<rdf:li", in: content)
            if let item { content = content[item.upperBound...] } else if size > 0 { break }
            guard let open = content.firstIndex(of: UInt8(ascii: ">")) else { break }
            content = content[(open + 1)...]
            let text = content.prefix { $0 != UInt8(ascii: "<") }.drop { $0 <= UInt8(ascii: " ") }
                .prefix(longestEntity * limit)
            size += text.count + 1
            if let text = cleaned(unescaped(Substring(decoding: text, as: UTF8.self))) { texts.append(text) }
        } while all && size <= longestEntity * limit
        return texts.isEmpty ? nil : texts.joined(separator: separator)
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
            let reference = rest.prefix(longestEntity).prefix { $0 != ";" }.dropFirst()
            if rest.dropFirst(reference.count + 1).first == ";",
                let scalar = xmlCharacter(named: String(reference))
            {
                result.unicodeScalars.append(scalar)
                rest = rest.dropFirst(reference.count + 2)
            } else {
                result.append("&")
                rest = rest.dropFirst()
            }
        }
        return result + rest
    }

    /// The longest reference, `&#1114111;`.
    private static let longestEntity = 10
}
