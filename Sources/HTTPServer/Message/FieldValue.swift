// SPDX-License-Identifier: Apache-2.0

/// A field's value without any byte that could end its line (RFC 9110 §5.5), so that response splitting is
/// impossible.
public struct FieldValue: Sendable, Hashable {
    let bytes: [UInt8]

    /// Creates a value; nil if it has a control character (except a tab) or space at either end.
    public init?(_ value: String) {
        self.init(Array(value.utf8))
    }

    /// Creates a value from bytes, like the other initializer.
    public init?(_ bytes: [UInt8]) {
        guard Self.isValid(bytes[...]) else { return nil }
        self.bytes = bytes
    }

    /// Whether bytes are a field's value: without control characters but tabs, and without space at either end.
    static func isValid(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, let last = bytes.last else { return true }
        return !Octet.isSpace(first) && !Octet.isSpace(last) && bytes.allSatisfy(Octet.isFieldText)
    }

    /// Writes a number.
    public init(_ number: some BinaryInteger) {
        bytes = Array(String(number).utf8)
    }

    /// Creates a value from text that consists of numbers and literals.
    init(checked text: String) {
        bytes = Array(text.utf8)
    }

    /// Creates a value from an entity tag's text, whose opaque part was checked when the tag was created.
    init(checked text: [UInt8]) {
        bytes = text
    }
}
