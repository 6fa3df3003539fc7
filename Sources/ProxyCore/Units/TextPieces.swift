// SPDX-License-Identifier: Apache-2.0

/// The pieces of a text between separators, the empty ones too, each with its offset in bytes; cut as they are asked for.
///
/// Whoever stops at the first piece that is wrong pays for none behind it.
struct TextPieces: Sequence, IteratorProtocol {
    /// What has not been cut; nil behind the last piece.
    private var rest: Substring?
    private let separator: UInt8
    private var offset: Int

    /// - Parameters:
    ///   - separator: an ASCII character.
    ///   - offset: where the text begins.
    init(of text: Substring, at separator: UInt8, from offset: Int = 0) {
        rest = text
        self.separator = separator
        self.offset = offset
    }

    mutating func next() -> (offset: Int, text: Substring)? {
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
