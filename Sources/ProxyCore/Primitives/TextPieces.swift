// SPDX-License-Identifier: Apache-2.0

/// The pieces of a text between separators, also empty ones, each with its offset in bytes; computed lazily.
///
/// A caller that stops at the first invalid piece does not pay for the rest.
package struct TextPieces: Sequence, IteratorProtocol {
    /// The remaining text; nil after the last piece.
    private var rest: Substring?
    private let separator: UInt8
    private var offset: Int

    /// - Parameters:
    ///   - text: what is divided.
    ///   - separator: an ASCII character.
    ///   - offset: the offset of the text's first byte.
    package init(of text: Substring, at separator: UInt8, from offset: Int = 0) {
        rest = text
        self.separator = separator
        self.offset = offset
    }

    package mutating func next() -> (offset: Int, text: Substring)? {
        guard let text = rest else { return nil }
        let start = offset
        guard let end = text.utf8.firstIndex(of: separator) else {
            rest = nil
            return (start, text)
        }
        let piece = text[..<end]
        offset += piece.utf8.count + 1
        rest = text[text.utf8.index(after: end)...]
        return (start, piece)
    }
}
