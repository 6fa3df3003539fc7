// SPDX-License-Identifier: Apache-2.0

/// The options of a URL by name, and how their values are read.
///
/// A value that does not fit is absent: that is an error, or, where the dialect is lenient, a note.
protocol OptionReading {
    /// What becomes of values that do not fit.
    var leniency: Leniency { get set }

    /// The text of an option; nil if it is absent.
    subscript(name: String) -> String? { get }
}

extension OptionReading {
    /// The value that `read` finds in an option's text; `expectation` says what it must be.
    mutating func value<Value>(
        _ name: String, _ expectation: @autoclosure () -> String, _ read: (String) -> Value?
    ) throws(TranslationError) -> Value? {
        guard let text = self[name] else { return nil }
        guard let value = read(text) else {
            try leniency.ignoreOrThrow(name, expectation())
            return nil
        }
        return value
    }

    /// The number that the text is, or what else `read` takes for one.
    mutating func number(
        _ name: String, in range: ClosedRange<Double>, _ read: (String) -> Double? = NumberText.decimal
    ) throws(TranslationError) -> Double? {
        let (low, high) = (range.lowerBound, range.upperBound)
        return try value(name, "must be from \(NumberText.text(low)) to \(NumberText.text(high))") { text in
            read(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// The value of one of several words.
    mutating func word<Value>(_ name: String, _ words: [String: Value]) throws(TranslationError) -> Value? {
        try value(name, "must be one of \(words.keys.sorted().joined(separator: ", "))") { words[$0] }
    }

    /// One of several words.
    mutating func word(_ name: String, among words: [String]) throws(TranslationError) -> String? {
        try value(name, "must be one of \(words.joined(separator: ", "))") { words.contains($0) ? $0 : nil }
    }

    /// A colour whose alpha, if given, stands before red.
    mutating func color(_ name: String) throws(TranslationError) -> DialectColor? {
        try value(name, "must be a CSS name or RGB, ARGB, RRGGBB, AARRGGBB in hexadecimal") {
            DialectColor($0, alpha: .first)
        }
    }
}
