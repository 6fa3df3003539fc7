// SPDX-License-Identifier: Apache-2.0

/// Refuses SVG that would make an XML parser do more than read it.
///
/// The rest is refused by construction: librsvg runs no script, and without a base URL it loads nothing but `data:`.
enum DrawingGuard {
    /// Most entities that a drawing may declare: drawing programs name namespaces by a dozen of them.
    private static let entityLimit = 64
    /// Most bytes of one declaration.
    private static let declarationLimit = 1_024

    /// Throws `badImageData` for a drawing whose declarations refer to files or to one another, or are too many, and for one
    /// that its references make too large.
    ///
    /// Looks at bytes: the signature lets in no encoding in which these would look otherwise but that says so in its
    /// declaration, which must then be UTF-8, ASCII or Latin.
    static func check(_ text: UnsafeRawBufferPointer) throws(ImagingError) {
        guard unsafe hasPlainEncoding(text.prefix(ImageFormat.sniffLength)) else {
            throw .badImageData("an SVG in an encoding that is not looked into")
        }
        var count = 0
        var index = 0
        while let start = unsafe next(of: doctypeMark, in: text, from: index) {
            count += 1
            let length = min(declarationLimit, text.count - start)
            let part = unsafe Array(text[start..<start + length])
            guard count <= entityLimit, let end = part.firstIndex(of: UInt8(ascii: ">")),
                isHarmless(part[..<end])
            else { throw .badImageData("an SVG with entities that are not let in") }
            index = start + doctypeMark.count
        }
        guard unsafe !DrawingWeight(Array(text)).isExcessive else {
            throw .badImageData("an SVG whose references make too much of it")
        }
    }

    private static let doctypeMark = Array("<!ENTITY".utf8)
    private static let plainEncodings = [
        "utf-8", "us-ascii", "ascii", "iso-8859-1", "iso-8859-15", "windows-1252",
    ]

    /// A declaration that refers to nothing: no file, no parameter entity, no other entity.
    private static func isHarmless(_ declaration: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: declaration, as: UTF8.self)
        return !text.contains("SYSTEM") && !text.contains("PUBLIC") && !text.contains("&")
            && !text.contains("%")
    }

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
