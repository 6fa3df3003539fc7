// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The members of a comma-separated field value of the form `name`, `name=token`, `name="quoted"` (RFC 9110
/// §5.6).
///
/// Names are in lower case, quoted strings without quotes and escapes. A member that begins with a name and
/// continues in another form has an empty argument, which is invalid for every directive: so `max-age =5` and
/// `no-store;x` are recognized. A member without a name is dropped alone.
struct FieldList: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    init(_ value: String) {
        rest = Array(value.utf8)[...]
    }

    mutating func next() -> (name: String, argument: String?)? {
        while !rest.isEmpty {
            if let member = Self.parse(takeMember()) { return member }
        }
        return nil
    }

    /// Removes everything before the next comma outside quotes, and the comma.
    ///
    /// A quote that is not closed opens nothing: what follows its comma is parsed as usual, so that `x="a,
    /// no-store` does not hide the directive after it.
    private mutating func takeMember() -> ArraySlice<UInt8> {
        let end = Self.endOfMember(rest) ?? rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
        defer { rest = rest[end...].dropFirst() }
        return rest[..<end]
    }

    /// The first comma outside quotes, or the end; nil if a quote is not closed.
    private static func endOfMember(_ bytes: ArraySlice<UInt8>) -> Int? {
        var isQuoted = false
        var isEscaped = false
        // A quoted string begins right after the member's "="; a quote elsewhere is part of something
        // malformed.
        var hasArgument = false
        var mayOpen = false
        for index in bytes.indices {
            let byte = bytes[index]
            defer {
                if byte == UInt8(ascii: "="), !isQuoted, !hasArgument {
                    hasArgument = true
                    mayOpen = index > bytes.startIndex && isTokenByte(bytes[index - 1])
                } else {
                    mayOpen = false
                }
            }
            if isEscaped {
                isEscaped = false
            } else if isQuoted && byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\""), isQuoted || mayOpen {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ",") && !isQuoted {
                return index
            }
        }
        return isQuoted ? nil : bytes.endIndex
    }

    private static func parse(_ member: ArraySlice<UInt8>) -> (name: String, argument: String?)? {
        let trimmed = trim(member)
        let name = trimmed.prefix { isTokenByte($0) }
        guard !name.isEmpty else { return nil }
        let lowered = String(decoding: name, as: UTF8.self).lowercased()
        let tail = trimmed.dropFirst(name.count)
        if tail.isEmpty { return (lowered, nil) }
        guard tail.first == UInt8(ascii: "=") else { return (lowered, "") }
        return (lowered, argument(tail.dropFirst()))
    }

    /// A token or a quoted string; anything else is an empty argument, which is invalid for every directive.
    private static func argument(_ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.first == UInt8(ascii: "\"") else {
            return bytes.allSatisfy(isTokenByte) ? String(decoding: bytes, as: UTF8.self) : ""
        }
        guard bytes.count >= 2, bytes.last == UInt8(ascii: "\"") else { return "" }
        var text: [UInt8] = []
        var isEscaped = false
        for byte in bytes.dropFirst().dropLast() {
            if !isEscaped && byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                text.append(byte)
                isEscaped = false
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func trim(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        var trimmed = bytes.drop(while: isBlank)
        while let last = trimmed.last, isBlank(last) { trimmed.removeLast() }
        return trimmed
    }
}
