// SPDX-License-Identifier: Apache-2.0

/// A field's name: a token (RFC 9110 §5.1), compared without case.
public struct FieldName: Sendable, Hashable {
    /// `Name: `, the beginning of its lines.
    let prefix: [UInt8]
    /// The known field that it is, if any.
    let known: KnownField?
    /// Whether it is `Date`.
    let isDate: Bool

    /// Creates a name; nil unless it is a token.
    public init?(_ name: String) {
        let bytes = Array(name.utf8)
        guard !bytes.isEmpty, bytes.allSatisfy(OctetSet.token.contains) else { return nil }
        prefix = bytes + ": ".utf8
        known = KnownField(bytes.span, 0..<bytes.count)
        isDate = Self.isDate(bytes)
    }

    /// Creates a name written in the source; one that is not a token stops the process.
    public init(literal name: StaticString) {
        let bytes = unsafe Array(
            UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        precondition(!bytes.isEmpty && bytes.allSatisfy(OctetSet.token.contains), "\(name) is no token")
        prefix = bytes + ": ".utf8
        known = KnownField(bytes.span, 0..<bytes.count)
        isDate = Self.isDate(bytes)
    }

    private static func isDate(_ name: [UInt8]) -> Bool {
        name.count == 4 && zip(name, "date".utf8).allSatisfy { Octet.lower($0) == $1 }
    }

    /// The name alone, as it is sent.
    var bytes: ArraySlice<UInt8> { prefix.dropLast(2) }

    /// Whether it delimits a message or a connection: only the server writes such fields (RFC 9112 §6).
    var isFraming: Bool {
        switch known {
        case .connection, .contentLength, .transferEncoding: true
        default: false
        }
    }

    /// Compares without case.
    public static func == (left: FieldName, right: FieldName) -> Bool {
        left.prefix.count == right.prefix.count && left.known == right.known
            && zip(left.bytes, right.bytes).allSatisfy { Octet.lower($0) == Octet.lower($1) }
    }

    /// Hashes without case.
    public func hash(into hasher: inout Hasher) {
        for byte in bytes { hasher.combine(Octet.lower(byte)) }
    }

    /// Whether a line begins with this name, without case.
    func begins(_ line: ArraySlice<UInt8>) -> Bool {
        line.count >= prefix.count && zip(line, prefix).allSatisfy { Octet.lower($0) == Octet.lower($1) }
    }

    /// Whether raw bytes equal this name, without case.
    func matches(_ other: UnsafeRawBufferPointer) -> Bool {
        guard other.count == bytes.count else { return false }
        for index in bytes.indices where unsafe Octet.lower(bytes[index]) != Octet.lower(other[index]) {
            return false
        }
        return true
    }
}
