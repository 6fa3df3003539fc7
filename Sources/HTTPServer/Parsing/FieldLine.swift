// SPDX-License-Identifier: Apache-2.0

/// The ranges of a field line's name and value in a head.
struct FieldLine: Sendable {
    private let nameStart: UInt32, nameEnd: UInt32, valueStart: UInt32, valueEnd: UInt32
    /// The known field that it is, if any.
    let known: KnownField?

    /// Records a line; heads are far shorter than four gibibytes.
    init(name: Range<Int>, value: Range<Int>, known: KnownField?) {
        (nameStart, nameEnd) = (UInt32(name.lowerBound), UInt32(name.upperBound))
        (valueStart, valueEnd) = (UInt32(value.lowerBound), UInt32(value.upperBound))
        self.known = known
    }

    var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
    /// Without the white space around it.
    var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }

    /// Hot path: parses `name: value`, the line without its end (RFC 9112 §5): no space before the colon, no
    /// folding.
    init(_ octets: Span<UInt8>, _ line: Range<Int>) throws(RequestError) {
        guard let colon = octets.first(UInt8(ascii: ":"), in: line), colon > line.lowerBound else {
            throw .malformed
        }
        let name = line.lowerBound..<colon
        let known = KnownField(octets, name)
        guard known != nil || octets.all(in: .token, name) else { throw .malformed }
        let value = octets.trimmed((colon + 1)..<line.upperBound)
        guard octets.isFieldText(value) else { throw .malformed }
        self.init(name: name, value: value, known: known)
    }

    /// Whether this is a line of the field; `head` is what the line was read from.
    func isNamed(_ field: FieldName, in head: UnsafeRawBufferPointer) -> Bool {
        if let wanted = field.known { return known == wanted }
        guard known == nil else { return false }
        return unsafe field.matches(UnsafeRawBufferPointer(rebasing: head[name]))
    }
}
