// SPDX-License-Identifier: Apache-2.0

import Primitives

extension TransformParameter {
    /// Parses a value of this parameter.
    func value(from text: Substring) throws(TransformError.Problem) -> TransformValue {
        guard let value = parsed(text) else { throw .malformed(expected: kind.expectation) }
        return try checked(value)
    }

    /// Returns `value` if it is in range, also after scaling by `dpr`.
    func checked(_ value: TransformValue) throws(TransformError.Problem) -> TransformValue {
        guard isInRange(value) else { throw .outOfRange(allowed: kind.expectation) }
        return value
    }

    private func parsed(_ text: Substring) -> TransformValue? {
        switch kind {
        case .number:
            FixedNumber(text.utf8).map(TransformValue.number)
        case .whole:
            text.contains(".") ? nil : FixedNumber(text.utf8).map(TransformValue.number)
        case .length:
            Length(text).map(TransformValue.length)
        case .lengthOr(_, let words):
            words.contains(String(text)) ? .word(String(text)) : Length(text).map(TransformValue.length)
        case .size:
            SizeRequest(text).map(TransformValue.size)
        case .word(let words):
            words.contains(String(text)) ? .word(String(text)) : nil
        case .words(let words):
            Self.selection(of: words, in: text).map(TransformValue.words)
        case .color:
            PixelColor(text).map(TransformValue.color)
        case .text(let limit):
            text.utf8.count <= limit ? .text(String(text)) : nil
        case .encodedText(let limit):
            Self.isText(text, atMost: limit) ? .text(String(text)) : nil
        case .name:
            .text(String(text))
        }
    }

    /// Whether the text decodes to UTF-8 that can be drawn: no control characters but line breaks and tabs.
    private static func isText(_ text: Substring, atMost limit: Int) -> Bool {
        guard let bytes = Base64.decodeURL(text.utf8), bytes.count <= limit else { return false }
        guard let decoded = String(validating: bytes, as: UTF8.self) else { return false }
        return decoded.unicodeScalars.allSatisfy { scalar in
            scalar == "\n" || scalar == "\t" || scalar.properties.generalCategory != .control
        }
    }

    private static func selection(of words: [String], in text: Substring) -> [String]? {
        // A longer list than there are words has an unknown or a repeated one.
        let chosen = TextPieces(of: text, at: UInt8(ascii: "+")).prefix(words.count + 1).map {
            String($0.text)
        }
        guard Set(chosen).count == chosen.count, chosen.allSatisfy(words.contains) else { return nil }
        return words.filter(chosen.contains)
    }

    private func isInRange(_ value: TransformValue) -> Bool {
        switch (kind, value) {
        case (.number(let range), .number(let number)):
            range.contains(number)
        case (.whole(let range), .number(let number)):
            Self.contains(range, number)
        case (.length(let range), .length(let length)), (.lengthOr(let range, _), .length(let length)):
            Self.contains(range, length)
        case (.size, .size(let size)):
            size.sides.allSatisfy { Self.contains(Self.sizeRange, $0) && $0.number > FixedNumber(0) }
        default:
            true
        }
    }

    private static func contains(_ range: ClosedRange<Int>, _ number: FixedNumber) -> Bool {
        FixedNumber(range.lowerBound) <= number && number <= FixedNumber(range.upperBound)
    }

    private static func contains(_ range: ClosedRange<Int>, _ length: Length) -> Bool {
        switch length {
        case .pixels(let number): contains(range, number)
        // Where pixels may be negative, percentages may, too.
        case .percent(let number):
            contains(
                range.lowerBound < 0 ? -percentRange.upperBound...percentRange.upperBound : percentRange,
                number)
        }
    }
}

extension TransformParameter.Kind {
    private static let percentages =
        "a percentage (50pc) up to \(TransformParameter.percentRange.upperBound)pc"

    /// The form of valid values, for error texts and the reference.
    var expectation: String {
        switch self {
        case .number(let range):
            "a number from \(range.lowerBound) to \(range.upperBound) with at most three decimals"
        case .whole(let range):
            "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .length(let range):
            "pixels from \(range.lowerBound) to \(range.upperBound), or \(Self.percentages)"
        case .lengthOr(let range, let words):
            "pixels from \(range.lowerBound) to \(range.upperBound), \(Self.percentages), or "
                + words.joined(separator: ", ")
        case .size:
            "a size such as 300x200, 300x or x200, each side from \(TransformParameter.sizeRange.lowerBound) to "
                + "\(TransformParameter.sizeRange.upperBound) pixels or \(Self.percentages)"
        case .word(let words):
            "one of " + words.joined(separator: ", ")
        case .words(let words):
            "some of " + words.joined(separator: ", ") + ", joined by +"
        case .color:
            "a colour as RGB, RGBA, RRGGBB or RRGGBBAA in hexadecimal, or by its CSS name"
        case .text(let limit):
            "at most \(limit) characters, _ standing for a space"
        case .encodedText(let limit):
            "at most \(limit) bytes of UTF-8 in base64url without padding"
        case .name:
            "a name"
        }
    }

    /// The kind's short name in the reference.
    var label: String {
        switch self {
        case .number: "number"
        case .whole: "integer"
        case .length, .lengthOr: "length"
        case .size: "size"
        case .word: "choice"
        case .words: "choices"
        case .color: "color"
        case .text, .encodedText, .name: "text"
        }
    }
}
