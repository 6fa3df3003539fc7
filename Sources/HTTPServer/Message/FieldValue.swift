// SPDX-License-Identifier: Apache-2.0

/// A field's value without any byte that could end its line (RFC 9110 §5.5): response splitting can't be written.
public struct FieldValue: Sendable, Hashable {
    let bytes: [UInt8]

    /// Checks a value; nil when it has a control character (but a tab) or space at either end.
    public init?(_ value: String) {
        self.init(Array(value.utf8))
    }

    /// Checks a value's bytes, as the other initializer.
    public init?(_ bytes: [UInt8]) {
        guard bytes.allSatisfy(Octet.isFieldText) else { return nil }
        guard let first = bytes.first, let last = bytes.last else {
            self.bytes = []
            return
        }
        guard !Octet.isSpace(first), !Octet.isSpace(last) else { return nil }
        self.bytes = bytes
    }

    /// Writes a number.
    public init(_ number: some BinaryInteger) {
        bytes = Array(String(number).utf8)
    }

    /// Takes text that was put together from numbers and literals.
    init(checked text: String) {
        bytes = Array(text.utf8)
    }

    /// Takes an entity tag's text, whose opaque part was checked when the tag was made.
    init(checked before: String, _ opaque: [UInt8], _ behind: String) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(before.utf8.count + opaque.count + behind.utf8.count)
        bytes += before.utf8
        bytes += opaque
        bytes += behind.utf8
        self.bytes = bytes
    }
}
