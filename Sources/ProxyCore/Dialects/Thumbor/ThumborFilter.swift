// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A filter as written: `name(argument,argument)`.
struct ThumborFilter {
    let name: String
    /// Decoded, without spaces and quotes around them.
    let arguments: [String]

    /// Divides a list at `):`; the last closing parenthesis is not part of it. Too many filters are one more than there may be.
    ///
    /// thumbor decodes the list as a whole, imagor each argument.
    static func list(_ raw: Substring, isImagor: Bool) -> [ThumborFilter] {
        let text = isImagor ? nil : PercentText.decodedText(raw)
        return (text.map { $0[...] } ?? raw).split(
            separator: "):", maxSplits: Translation.mostOptions, omittingEmptySubsequences: false
        ).map { piece in
            let open = piece.firstIndex(of: "(") ?? piece.endIndex
            let pieces = divided(piece[open...].dropFirst())
            let arguments = isImagor ? pieces.map { PercentText.decodedText($0) ?? $0 } : pieces
            return ThumborFilter(name: String(piece[..<open]), arguments: arguments.map(trimmed))
        }
    }

    /// Divides at commas outside of brackets, up to the parenthesis that closes the filter: what follows it is
    /// not read.
    private static func divided(_ text: Substring) -> [String] {
        var depth = 0
        var pieces: [String] = []
        var start = text.startIndex
        var end = text.endIndex
        // By bytes, of which a client may send thousands.
        scan: for index in text.utf8.indices {
            switch text.utf8[index] {
            case UInt8(ascii: "["), UInt8(ascii: "("): depth += 1
            case UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ")"):
                depth -= 1
                guard depth >= 0 else {
                    end = index
                    break scan
                }
            case UInt8(ascii: ",") where depth <= 0:
                pieces.append(String(text[start..<index]))
                start = text.utf8.index(after: index)
            default: break
            }
        }
        pieces.append(String(text[start..<end]))
        return pieces == [""] ? [] : pieces
    }

    private static func trimmed(_ text: String) -> String {
        var text = text.drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        if text.count > 2, text.first == "'", text.last == "'" { text = text.dropFirst().dropLast() }
        return String(text)
    }
}

/// What an argument of thumbor's filters has to look like; one that does not makes the filter void.
enum ThumborArgument {
    /// Digits.
    case count
    /// Digits, not all of them 0.
    case positive
    /// Digits, perhaps behind a minus.
    case integer
    /// A number with a point perhaps.
    case decimal
    /// `true`, `false`, `1` or `0`.
    case flag
    /// Letters, digits and `_`.
    case word
    /// Anything.
    case text

    func matches(_ text: String) -> Bool {
        let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
        let isNumber = !digits.isEmpty && digits.allSatisfy(\.isASCIIDigit)
        let hasSign = digits.count < text.utf8.count
        return switch self {
        case .count: isNumber && !hasSign
        case .positive: isNumber && !hasSign && digits.contains { $0 != 0x30 }
        case .integer: isNumber && text.utf8.count - digits.count <= 1
        case .decimal: NumberText.decimal(text) != nil
        case .flag: ["true", "True", "false", "False", "1", "0"].contains(text)
        case .word: !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
        case .text: !text.isEmpty
        }
    }

    /// The arguments of a filter, and how many of them must be there.
    typealias List = (arguments: [ThumborArgument], required: Int)

    static let lists: [String: List] = [
        "background_color": ([.word], 1), "blur": ([.positive, .decimal], 1), "brightness": ([.integer], 1),
        "colorize": ([.count, .count, .count, .text], 4), "contrast": ([.integer], 1),
        "convolution": ([.text, .positive, .flag], 2), "curve": ([.text, .text, .text, .text], 4),
        "equalize": ([], 0), "extract_focal": ([], 0), "fill": ([.word, .flag], 1), "focal": ([.text], 1),
        "format": ([.text], 1), "grayscale": ([], 0), "max_age": ([.count], 1), "max_bytes": ([.count], 1),
        "no_upscale": ([], 0), "noise": ([.count, .count], 1), "proportion": ([.decimal], 1),
        "quality": ([.count], 1), "rgb": ([.integer, .integer, .integer], 3), "rotate": ([.integer], 1),
        "round_corner": ([.text, .count, .count, .count, .flag], 4), "saturation": ([.decimal], 1),
        "sharpen": ([.decimal, .decimal, .flag], 3), "stretch": ([], 0), "strip_exif": ([], 0),
        "strip_icc": ([], 0), "upscale": ([], 0),
        "watermark": ([.text, .text, .text, .count, .text, .text], 4),
    ]

    /// Whether a filter's arguments are as thumbor wants them; true for one that it does not have.
    static func fit(_ filter: ThumborFilter) -> Bool {
        guard let list = lists[filter.name] else { return true }
        let given = filter.arguments
        return (list.required...list.arguments.count).contains(given.count)
            && zip(list.arguments, given).allSatisfy { $0.matches($1) }
    }
}
