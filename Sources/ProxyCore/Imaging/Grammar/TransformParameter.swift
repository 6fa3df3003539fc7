// SPDX-License-Identifier: Apache-2.0

/// The declaration of one parameter of an operation: the one place that parser, canonical form and reference come from.
struct TransformParameter: Sendable {
    /// The name, as in `gravity=smart`.
    let name: String
    /// What values it takes.
    let kind: Kind
    /// The value when the parameter is absent.
    let fallback: Fallback
    /// One line for the reference.
    let doc: String
    /// Whether `dpr` multiplies it.
    let isScaled: Bool

    /// What values a parameter takes.
    enum Kind: Sendable {
        /// A number within a range, at most three decimals.
        case number(ClosedRange<Int>)
        /// A number within a range given in thousandths.
        case fineNumber(ClosedRange<FixedNumber>)
        /// A whole number within a range.
        case whole(ClosedRange<Int>)
        /// Pixels within a range, or a percentage of a side.
        case length(ClosedRange<Int>)
        /// A length, or one of some words.
        case lengthOr(ClosedRange<Int>, words: [String])
        /// `WxH`, `Wx` or `xH`.
        case size
        /// One of some words.
        case word([String])
        /// Some of some words, joined by `+`, in any order.
        case words([String])
        /// A colour.
        case color
        /// At most so many characters, `_` standing for a space.
        case text(limit: Int)
        /// UTF-8 in base64url, at most so many bytes.
        case encodedText(limit: Int)
        /// A name, as it is.
        case name
    }

    /// What an absent parameter means.
    enum Fallback: Sendable {
        /// It must be given.
        case required
        /// This value, which the canonical form leaves out.
        case value(TransformValue)
        /// Nothing: the operation tells presence from absence.
        case absent
    }

    /// Pixels that a size may ask for; far beyond any limit, so that those give their own errors.
    static let sizeRange = 1...100_000
    /// Percentages that are accepted.
    static let percentRange = 0...1_000

    /// Declares a parameter.
    init(_ name: String, _ kind: Kind, _ fallback: Fallback, isScaled: Bool = false, _ doc: String) {
        self.name = name
        self.kind = kind
        self.fallback = fallback
        self.isScaled = isScaled
        self.doc = doc
    }

    /// Declares a 0·1 switch that is off when absent.
    static func flag(_ name: String, isOn: Bool = false, _ doc: String) -> TransformParameter {
        TransformParameter(name, .word(["0", "1"]), .value(.word(isOn ? "1" : "0")), doc)
    }
}
