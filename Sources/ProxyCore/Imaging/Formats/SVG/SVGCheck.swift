// SPDX-License-Identifier: Apache-2.0

/// Refuses SVG that would make an XML parser do more than read it.
///
/// librsvg refuses the rest: it runs no script, and without a base URL it loads only `data:` URLs.
enum SVGCheck {
    /// The maximum number of entities that a drawing may declare: drawing programs declare about a dozen for
    /// namespaces.
    private static let entityLimit = 64
    /// The maximum number of bytes of one declaration.
    private static let declarationLimit = 1_024

    /// Throws `badImageData` for a drawing
    /// - in an encoding in which its declarations can't be checked;
    /// - whose declarations refer to files or to one another, are too long, or are too many;
    /// - that its references make too large;
    /// - that contains what is neither PNG nor JPEG, such as another drawing.
    ///
    /// Compares bytes: the signature accepts no encoding in which these would differ, except one that is
    /// declared, and the declaration must be UTF-8, ASCII or Latin.
    ///
    /// - Returns: the number of pixels of all pictures that it contains.
    static func check(_ text: UnsafeRawBufferPointer) throws(ImagingError) -> Int {
        guard unsafe hasPlainEncoding(text.prefix(ImageFormat.sniffLength)) else {
            throw .badImageData("an SVG in an encoding that is not looked into")
        }
        try unsafe check(text, for: entityMark, isHarmless: isHarmlessEntity)
        try unsafe check(text, for: attributesMark, isHarmless: isHarmlessDefault)
        let drawing = unsafe SVGElementCount(Array(text))
        guard !drawing.isExcessive else {
            throw .badImageData("an SVG whose references make too much of it")
        }
        guard !drawing.isOpaque, unsafe !refersIntoData(text) else {
            throw .badImageData("an SVG that holds what is neither PNG nor JPEG")
        }
        return drawing.embeddedPixels
    }

    private static func check(
        _ text: UnsafeRawBufferPointer, for mark: [UInt8], isHarmless: (ArraySlice<UInt8>) -> Bool
    ) throws(ImagingError) {
        var count = 0
        var index = 0
        while let start = unsafe next(of: mark, in: text, from: index) {
            count += 1
            let length = min(declarationLimit, text.count - start)
            let part = unsafe Array(text[start..<start + length])
            guard count <= entityLimit, let end = end(of: part),
                isHarmless(part[mark.count..<end])
            else { throw .badImageData("an SVG with declarations that are not allowed") }
            index = start + mark.count
        }
    }

    private static let entityMark = Array("<!ENTITY".utf8)
    private static let attributesMark = Array("<!ATTLIST".utf8)

    /// The position of a declaration's `>` outside quotes.
    private static func end(of declaration: [UInt8]) -> Int? {
        var quote: UInt8?
        return declaration.firstIndex { byte in
            if let open = quote {
                if byte == open { quote = nil }
                return false
            }
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { quote = byte }
            return byte == UInt8(ascii: ">")
        }
    }

    /// Whether an entity contains no reference and no element: no file, no parameter entity, no other entity.
    private static func isHarmlessEntity(_ text: ArraySlice<UInt8>) -> Bool {
        !text.contains(where: references.contains) && text.firstRange(of: "SYSTEM".utf8) == nil
            && text.firstRange(of: "PUBLIC".utf8) == nil
    }

    /// Whether the attributes' default values are only names of namespaces.
    private static func isHarmlessDefault(_ text: ArraySlice<UInt8>) -> Bool {
        let parts = text.split(omittingEmptySubsequences: false) { quotes.contains($0) }
        return !text.contains(where: references.contains)
            && stride(from: 1, to: parts.count, by: 2).allSatisfy { parts[$0].starts(with: "http".utf8) }
    }

    private static let references = Set("&%<>".utf8)
    private static let quotes = Set("\"'".utf8)

    /// Whether a reference points into the content of a `data:` URL, that is, to a part of another drawing.
    private static func refersIntoData(_ text: UnsafeRawBufferPointer) -> Bool {
        for colon in text.indices.dropFirst(dataMark.count) where unsafe text[colon] == UInt8(ascii: ":") {
            // Equals lower case for the characters of XML names.
            let scheme = unsafe text[colon - dataMark.count..<colon].map { $0 | 0x20 }
            guard scheme == dataMark else { continue }
            let held = unsafe text[colon...].prefix { !endsReference.contains($0) }
            if unsafe held.contains(UInt8(ascii: "#")) { return true }
        }
        return false
    }

    private static let dataMark = Array("data".utf8)
    private static let endsReference = Set("\"')<> \t\r\n".utf8)

    private static let plainEncodings = [
        "utf-8", "us-ascii", "ascii", "iso-8859-1", "iso-8859-15", "windows-1252",
    ]

    private static func hasPlainEncoding(_ head: Slice<UnsafeRawBufferPointer>) -> Bool {
        let text = unsafe String(decoding: head, as: UTF8.self).lowercased()
        guard let declaration = text.split(separator: "?>", maxSplits: 1).first, text.contains("<?xml"),
            let value = declaration.split(separator: "encoding", maxSplits: 1).dropFirst().first
        else { return true }
        let name = value.drop { $0 == "=" || $0.isWhitespace || $0 == "\"" || $0 == "'" }
            .prefix { $0 != "\"" && $0 != "'" }
        return plainEncodings.contains(String(name))
    }

    private static func next(
        of mark: [UInt8], in text: UnsafeRawBufferPointer, from start: Int
    ) -> Int? {
        guard text.count >= mark.count, start <= text.count - mark.count else { return nil }
        for index in start...text.count - mark.count where unsafe text[index] == mark[0] {
            let part = unsafe UnsafeRawBufferPointer(rebasing: text[index..<index + mark.count])
            if unsafe part.elementsEqual(mark) { return index }
        }
        return nil
    }
}
