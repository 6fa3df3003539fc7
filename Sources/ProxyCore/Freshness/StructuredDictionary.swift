// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A dictionary of structured fields (RFC 9651 §3.2), parsed strictly: one error makes all of it invalid.
///
/// Of a value only what a cache directive can be is stored; parameters are parsed and dropped. Pure.
struct StructuredDictionary {
    /// A member's value.
    enum Value: Equatable {
        /// `?1`, or nothing at all; `?0`.
        case boolean(Bool)
        /// At most 15 digits.
        case integer(Int64)
        /// The text between the quotes.
        case string(String)
        /// A decimal, a token, bytes, a date, or a list.
        case other
    }

    /// In the order of the keys' first occurrence; of a repeated key the last value counts.
    private(set) var members: [(key: String, value: Value)] = []

    private var places: [String: Int] = [:]
    private var rest: ArraySlice<UInt8>

    /// Every parser must accept as many (RFC 9651 §3.2), and this one accepts no more.
    private static let mostMembers = 1_024

    private struct Fault: Error {}

    /// Parses all lines of a field; nil if they are not a dictionary.
    init?(_ lines: [String]) {
        rest = Array(lines.joined(separator: ",").utf8)[...]
        do {
            try parse()
        } catch {
            return nil
        }
    }

    // MARK: - The grammar, top down (RFC 9651 §4.2)

    private mutating func parse() throws(Fault) {
        skipSpaces()
        while !rest.isEmpty {
            let key = try key()
            let value = take(UInt8(ascii: "=")) ? try member() : .boolean(true)
            try parameters()
            try put(key, value)
            skipBlanks()
            guard !rest.isEmpty else { return }
            guard take(UInt8(ascii: ",")) else { throw Fault() }
            skipBlanks()
            guard !rest.isEmpty else { throw Fault() }
        }
    }

    private mutating func put(_ key: String, _ value: Value) throws(Fault) {
        if let place = places[key] {
            members[place].value = value
        } else {
            guard members.count < Self.mostMembers else { throw Fault() }
            places[key] = members.count
            members.append((key, value))
        }
    }

    private mutating func key() throws(Fault) -> String {
        guard let first = rest.first, Self.isLower(first) || first == UInt8(ascii: "*") else { throw Fault() }
        return text { Self.isLower($0) || Self.isDigit($0) || "_-.*".utf8.contains($0) }
    }

    private mutating func member() throws(Fault) -> Value {
        guard take(UInt8(ascii: "(")) else { return try item() }
        while true {
            skipSpaces()
            if take(UInt8(ascii: ")")) { return .other }
            _ = try item()
            try parameters()
            guard rest.first == UInt8(ascii: " ") || rest.first == UInt8(ascii: ")") else { throw Fault() }
        }
    }

    private mutating func parameters() throws(Fault) {
        while take(UInt8(ascii: ";")) {
            skipSpaces()
            _ = try key()
            if take(UInt8(ascii: "=")) { _ = try item() }
        }
    }

    private mutating func item() throws(Fault) -> Value {
        guard let first = rest.first else { throw Fault() }
        switch first {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "?"): return .boolean(try boolean())
        case UInt8(ascii: ":"): return try bytes()
        case UInt8(ascii: "@"):
            rest.removeFirst()
            guard case .integer = try number() else { throw Fault() }
            return .other
        case _ where Self.isLetter(first) || first == UInt8(ascii: "*"):
            _ = text { isTokenByte($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
            return .other
        default: throw Fault()
        }
    }

    /// At most 15 digits; a decimal has at most 12 before its point and 1 to 3 after.
    private mutating func number() throws(Fault) -> Value {
        let sign: Int64 = take(UInt8(ascii: "-")) ? -1 : 1
        let whole = text(of: Self.isDigit)
        guard !whole.isEmpty, whole.utf8.count <= 15, let number = Int64(whole) else { throw Fault() }
        guard take(UInt8(ascii: ".")) else { return .integer(sign * number) }
        guard whole.utf8.count <= 12, (1...3).contains(text(of: Self.isDigit).utf8.count) else {
            throw Fault()
        }
        return .other
    }

    private mutating func string() throws(Fault) -> String {
        rest.removeFirst()
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let next = rest.popFirst(), next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\")
                else { throw Fault() }
                text.append(next)
            case 0x20...0x7E: text.append(byte)
            default: throw Fault()
            }
        }
        throw Fault()
    }

    private mutating func boolean() throws(Fault) -> Bool {
        rest.removeFirst()
        if take(UInt8(ascii: "1")) { return true }
        guard take(UInt8(ascii: "0")) else { throw Fault() }
        return false
    }

    private mutating func bytes() throws(Fault) -> Value {
        rest.removeFirst()
        _ = text { Self.isLetter($0) || Self.isDigit($0) || "+/=".utf8.contains($0) }
        guard take(UInt8(ascii: ":")) else { throw Fault() }
        return .other
    }

    // MARK: - Bytes

    private mutating func take(_ byte: UInt8) -> Bool {
        guard rest.first == byte else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func text(of isPart: (UInt8) -> Bool) -> String {
        let part = rest.prefix(while: isPart)
        rest = rest[part.endIndex...]
        return String(decoding: part, as: UTF8.self)
    }

    private mutating func skipSpaces() {
        while take(UInt8(ascii: " ")) {}
    }

    private mutating func skipBlanks() {
        while take(UInt8(ascii: " ")) || take(UInt8(ascii: "\t")) {}
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    private static func isLower(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "a") < 26 }

    private static func isLetter(_ byte: UInt8) -> Bool { isLower(byte | 0x20) }
}
