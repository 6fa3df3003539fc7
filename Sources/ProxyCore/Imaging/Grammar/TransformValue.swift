// SPDX-License-Identifier: Apache-2.0

/// A typed argument of an operation; `description` is its canonical spelling.
package enum TransformValue: Sendable, Hashable {
    case number(FixedNumber)
    case length(Length)
    case size(SizeRequest)
    case word(String)
    /// In the order of their declaration, without duplicates.
    case words([String])
    case color(PixelColor)
    /// Exactly as it was given.
    case text(String)

    /// Multiplies values in pixels.
    func scaled(by factor: Double) -> TransformValue {
        switch self {
        case .number(let number): .number(number.scaled(by: factor))
        case .length(let length): .length(length.scaled(by: factor))
        case .size(let size): .size(size.scaled(by: factor))
        case .word, .words, .color, .text: self
        }
    }

    /// A length in pixels rounded half to even, anything else as it is.
    var inWholePixels: TransformValue {
        guard case .length(.pixels(let number)) = self else { return self }
        return .length(.pixels(FixedNumber(Int(number.double.rounded(.toNearestOrEven)))))
    }
}

extension TransformValue: CustomStringConvertible {
    package var description: String {
        switch self {
        case .number(let number): number.description
        case .length(let length): length.description
        case .size(let size): size.description
        case .word(let word): word
        case .words(let words): words.joined(separator: "+")
        case .color(let color): color.description
        case .text(let text): text
        }
    }
}
