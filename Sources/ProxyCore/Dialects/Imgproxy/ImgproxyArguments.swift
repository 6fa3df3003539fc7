// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The arguments of one option, and how they are read.
struct ImgproxyArguments {
    /// The option's name as written.
    let option: String
    let values: [String]

    /// An error about this option.
    func error(_ reason: String) -> TranslationError { TranslationError(.invalid, option.excerpt, reason) }

    /// The text at a place; nil where it is absent or empty.
    subscript(place: Int) -> String? {
        guard values.indices.contains(place), !values[place].isEmpty else { return nil }
        return values[place]
    }

    /// The arguments from a place on.
    func dropping(_ count: Int) -> ImgproxyArguments {
        ImgproxyArguments(option: option, values: Array(values.dropFirst(count)))
    }

    /// The argument at a place, which must be there.
    func text(_ place: Int) throws(TranslationError) -> String {
        guard let text = self[place] else { throw error("argument \(place + 1) is missing") }
        return text
    }

    /// What Go reads as a boolean; anything else is false.
    func flag(_ place: Int) -> Bool { ["1", "t", "T", "true", "TRUE", "True"].contains(self[place]) }

    /// A whole number.
    func integer(_ place: Int, in range: ClosedRange<Int>) throws(TranslationError) -> Int {
        let text = try text(place)
        guard let number = Int(text) else { throw error("'\(text.excerpt)' is no whole number") }
        guard range.contains(number) else {
            throw error("\(number) is not from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func number(_ place: Int, in range: ClosedRange<Double>) throws(TranslationError) -> Double {
        let text = try text(place)
        // Swift reads more than decimals: nan, inf, 0x1p3.
        guard text.utf8.allSatisfy({ "+-.0123456789eE".utf8.contains($0) }), let number = Double(text) else {
            throw error("'\(text.excerpt)' is no number")
        }
        guard range.contains(number) else {
            throw error("\(text.excerpt) is not from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func positive(_ place: Int) throws(TranslationError) -> Double {
        let number = try number(place, in: 0...Self.maxNumber)
        guard number > 0 else { throw error("it must be above 0") }
        return number
    }

    /// A side in pixels, 0 for none.
    func side(_ place: Int) throws(TranslationError) -> Int { try integer(place, in: 0...Self.maxSide) }

    /// Three or six hexadecimal digits, as RRGGBB.
    func color(_ place: Int) throws(TranslationError) -> String {
        let text = try text(place)
        guard text.utf8.count == 3 || text.utf8.count == 6,
            text.unicodeScalars.allSatisfy({ $0.properties.isASCIIHexDigit })
        else { throw error("a colour is three or six hexadecimal digits") }
        return text.utf8.count == 6 ? text : text.map { "\($0)\($0)" }.joined()
    }

    /// The name of a format; `jpg` is `jpeg`.
    func format(_ place: Int) throws(TranslationError) -> String {
        try ImgproxyFormat.name(text(place), option: option)
    }

    /// The largest number that an option takes.
    static let maxNumber = 100_000.0
    private static let maxSide = 100_000

    /// A gravity with its offsets; one that is absent or empty keeps what was set.
    /// - Parameter isPlace: whether it places something larger or smaller, where nothing is searched for.
    func gravity(
        replacing set: ImgproxyOptions.Gravity, isPlace: Bool = false
    ) throws(TranslationError) -> ImgproxyOptions.Gravity {
        let type = try text(0)
        switch type {
        case "sm" where !isPlace:
            guard values.count == 1 else { throw error("'sm' has no offsets") }
            return ImgproxyOptions.Gravity(type: type)
        case "fp":
            guard values.count == 3 else { throw error("'fp' has two coordinates") }
            return ImgproxyOptions.Gravity(
                type: type, x: self[1] == nil ? set.x : try number(1, in: 0...1),
                y: self[2] == nil ? set.y : try number(2, in: 0...1))
        case _ where Self.gravities[type] != nil:
            guard values.count <= 3 else { throw error("a gravity has at most two offsets") }
            return ImgproxyOptions.Gravity(
                type: type, x: try offset(1, otherwise: set.x), y: try offset(2, otherwise: set.y))
        default:
            throw error("there is no gravity '\(type.excerpt)'")
        }
    }

    /// The offset at a place, or what was set where it is absent.
    func offset(_ place: Int, otherwise set: Double) throws(TranslationError) -> Double {
        self[place] == nil ? set : try number(place, in: -Self.maxNumber...Self.maxNumber)
    }

    /// Our names of gravities.
    static let gravities = [
        "ce": "center", "no": "north", "so": "south", "ea": "east", "we": "west", "noea": "northeast",
        "nowe": "northwest", "soea": "southeast", "sowe": "southwest",
    ]
}

/// The names of formats.
enum ImgproxyFormat {
    /// Our names by theirs.
    private static let names = [
        "jpg": "jpeg", "jpeg": "jpeg", "png": "png", "webp": "webp", "avif": "avif", "gif": "gif",
        "tiff": "tiff", "bmp": "bmp", "ico": "ico", "jxl": "jxl", "heic": "heic", "svg": "svg",
    ]

    /// Our name of a format.
    static func name(_ text: String, option: String) throws(TranslationError) -> String {
        guard let name = names[text] else {
            throw TranslationError(.invalid, option, "there is no format '\(text.excerpt)'")
        }
        return name
    }
}
