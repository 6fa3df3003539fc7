// SPDX-License-Identifier: Apache-2.0

/// The position of a value or an error in a text: both counted from 1, columns in bytes.
package struct TextPosition: Sendable, Hashable, CustomStringConvertible {
    /// The line, from 1.
    package var line: Int
    /// The byte in the line, from 1.
    package var column: Int

    package var description: String { "\(line):\(column)" }
}

/// Why a text is not JSON, and where.
package struct JSONSyntaxError: Error, Sendable, Hashable {
    package var position: TextPosition
    /// Why.
    package var message: String
}

/// Parses JSON strictly (RFC 8259): no comments, no trailing commas, no duplicate names; bounded depth.
package struct JSONParser {
    /// The maximum nesting of objects and lists; settings need five.
    package static let maxDepth = 32

    private let bytes: [UInt8]
    private let notesPositions: Bool
    private var offset = 0
    private var path: [String] = []
    /// How far lines have been counted, so that the positions of all values cost one pass over the text.
    private var counted = (offset: 0, line: 1, lineStart: 0)
    /// Where each member's value begins, by the path of names to it.
    package private(set) var positions: [[String]: TextPosition] = [:]

    /// Creates a parser of `bytes`, which must be UTF-8; a byte order mark before them is ignored (RFC 8259 §8.1).
    /// - Parameters:
    ///   - bytes: the whole text.
    ///   - notesPositions: whether `positions` is filled, which costs more memory than the values.
    package init(_ bytes: [UInt8], notesPositions: Bool = true) {
        self.notesPositions = notesPositions
        self.bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    }

    /// Parses the one value of the text.
    package mutating func parse() throws(JSONSyntaxError) -> JSONValue {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw error("the text is not UTF-8") }
        skipBlanks()
        let value = try parseValue()
        skipBlanks()
        guard offset == bytes.count else { throw error("nothing may follow the value") }
        return value
    }

    private mutating func parseValue() throws(JSONSyntaxError) -> JSONValue {
        guard path.count <= Self.maxDepth else { throw error("nested deeper than \(Self.maxDepth)") }
        if notesPositions { positions[path] = advancedPosition() }
        switch peek() {
        case UInt8(ascii: "{"): return try parseObject()
        case UInt8(ascii: "["): return try parseArray()
        case UInt8(ascii: "\""): return .string(try parseString())
        case UInt8(ascii: "t"): return try parseWord("true", .bool(true))
        case UInt8(ascii: "f"): return try parseWord("false", .bool(false))
        case UInt8(ascii: "n"): return try parseWord("null", .null)
        case UInt8(ascii: "/"): throw error("comments are not allowed")
        case nil: throw error("the text ends where a value is expected")
        default: return try parseNumber()
        }
    }

    private mutating func parseObject() throws(JSONSyntaxError) -> JSONValue {
        var members: [JSONValue.Member] = []
        var names: Set<String> = []
        offset += 1
        skipBlanks()
        if take("}") { return .object([]) }
        repeat {
            skipBlanks()
            let start = offset
            guard peek() == UInt8(ascii: "\"") else { throw error("expected a name in double quotes") }
            let name = try parseString()
            guard names.insert(name).inserted else {
                throw error("\"\(name)\" is there twice", at: start)
            }
            skipBlanks()
            guard take(":") else { throw error("expected a colon after \"\(name)\"") }
            members.append(JSONValue.Member(name: name, value: try parseNested(name)))
        } while take(",")
        guard take("}") else { throw error("expected a comma or a closing brace") }
        return .object(members)
    }

    private mutating func parseArray() throws(JSONSyntaxError) -> JSONValue {
        var values: [JSONValue] = []
        offset += 1
        skipBlanks()
        if take("]") { return .array([]) }
        repeat { values.append(try parseNested("\(values.count)")) } while take(",")
        guard take("]") else { throw error("expected a comma or a closing bracket") }
        return .array(values)
    }

    private mutating func parseNested(_ name: String) throws(JSONSyntaxError) -> JSONValue {
        path.append(name)
        skipBlanks()
        let value = try parseValue()
        skipBlanks()
        path.removeLast()
        return value
    }

    private mutating func parseWord(
        _ word: StaticString, _ value: JSONValue
    ) throws(JSONSyntaxError) -> JSONValue {
        let text = Array("\(word)".utf8)
        guard bytes[offset...].starts(with: text) else { throw error("expected a value") }
        offset += text.count
        return value
    }

    /// Whether a text is a number of JSON: without leading zeros, plus or bare point (RFC 8259 §6).
    private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text
        /// Removes digits; returns how many.
        func digits() -> Int {
            let count = rest.prefix(while: \.isASCIIDigit).count
            rest = rest.dropFirst(count)
            return count
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let startsWithZero = rest.first == UInt8(ascii: "0")
        let whole = digits()
        guard whole == 1 || whole > 1 && !startsWithZero else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard digits() > 0 else { return false }
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }

    private static let numberBytes = Set("+-.eE0123456789".utf8)

    private mutating func parseNumber() throws(JSONSyntaxError) -> JSONValue {
        let start = offset
        while let byte = peek(), Self.numberBytes.contains(byte) { offset += 1 }
        guard Self.isNumber(bytes[start..<offset]) else { throw error("expected a value", at: start) }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        if let value = Int(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else {
            throw error("the number is too large", at: start)
        }
        return .number(value)
    }

    private mutating func parseString() throws(JSONSyntaxError) -> String {
        var scalars = String.UnicodeScalarView()
        var run = offset + 1
        offset += 1
        while let byte = peek() {
            switch byte {
            case UInt8(ascii: "\""):
                scalars.append(contentsOf: text(from: run))
                offset += 1
                return String(scalars)
            case UInt8(ascii: "\\"):
                scalars.append(contentsOf: text(from: run))
                scalars.append(try parseEscape())
                run = offset
            case ..<0x20: throw error("a control character must be escaped")
            default: offset += 1
            }
        }
        throw error("the text ends within a string")
    }

    private func text(from start: Int) -> String.UnicodeScalarView {
        String(decoding: bytes[start..<offset], as: UTF8.self).unicodeScalars
    }

    private mutating func parseEscape() throws(JSONSyntaxError) -> Unicode.Scalar {
        let start = offset
        offset += 1
        guard let byte = peek() else { throw error("the text ends within a string") }
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try parseCodePoint(escapeStart: start)
        default: throw error("unknown escape", at: start)
        }
    }

    private mutating func parseCodePoint(escapeStart: Int) throws(JSONSyntaxError) -> Unicode.Scalar {
        let first = try parseHex(escapeStart: escapeStart)
        if let scalar = Unicode.Scalar(first) { return scalar }
        // A surrogate: only a high one followed by a low one encodes a character.
        guard first < 0xDC00, take("\\"), take("u") else { throw error("lone surrogate", at: escapeStart) }
        let second = try parseHex(escapeStart: escapeStart)
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
        else { throw error("lone surrogate", at: escapeStart) }
        return scalar
    }

    private mutating func parseHex(escapeStart: Int) throws(JSONSyntaxError) -> UInt32 {
        let digits = bytes[offset...].prefix(4)
        let text = String(decoding: digits, as: UTF8.self)
        guard digits.count == 4, text.allSatisfy(\.isHexDigit), let value = UInt32(text, radix: 16) else {
            throw error("expected four hexadecimal digits", at: escapeStart)
        }
        offset += 4
        return value
    }

    // MARK: - Bytes

    private func peek() -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let byte = peek(), UInt32(byte) == character.value else { return false }
        offset += 1
        return true
    }

    private mutating func skipBlanks() {
        while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }

    private func error(_ message: String, at place: Int? = nil) -> JSONSyntaxError {
        JSONSyntaxError(position: position(at: place ?? offset), message: message)
    }

    private mutating func advancedPosition() -> TextPosition {
        while counted.offset < offset {
            if bytes[counted.offset] == 0x0A {
                counted = (counted.offset, counted.line + 1, counted.offset + 1)
            }
            counted.offset += 1
        }
        return TextPosition(line: counted.line, column: offset - counted.lineStart + 1)
    }

    private func position(at place: Int) -> TextPosition {
        let before = bytes[..<min(place, bytes.count)]
        let line = before.count { $0 == 0x0A } + 1
        let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        return TextPosition(line: line, column: before.count - lineStart + 1)
    }
}
