// SPDX-License-Identifier: Apache-2.0

/// The declaration of one parameter of an operation; parser, canonical form and reference are derived from
/// it.
package struct TransformParameter: Sendable {
    /// The name, as in `gravity=smart`.
    package let name: String
    /// The type of its values.
    let kind: Kind
    /// Its value if it is absent.
    let fallback: Fallback
    /// One line for the reference.
    let doc: String
    /// Whether `dpr` multiplies it.
    let isScaled: Bool

    /// The type of a parameter's values.
    enum Kind: Sendable {
        /// A number within a range, at most three decimals.
        case number(ClosedRange<FixedNumber>)
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
        /// At most `limit` characters; `_` is a space.
        case text(limit: Int)
        /// UTF-8 in base64url, at most `limit` bytes.
        case encodedText(limit: Int)
        case name
    }

    /// The meaning of an absent parameter.
    enum Fallback: Sendable {
        case required
        /// This value, which the canonical form omits.
        case value(TransformValue)
        /// No value: the operation distinguishes presence from absence.
        case absent
    }

    /// The range of a requested size in pixels; far beyond any limit, so that limits give their own errors.
    static let sizeRange = 1...100_000
    /// The range of percentages.
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
