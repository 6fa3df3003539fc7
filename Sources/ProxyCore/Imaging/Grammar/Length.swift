// SPDX-License-Identifier: Apache-2.0

/// A length: pixels, or a percentage of a side of the operation's input image.
package enum Length: Sendable, Hashable {
    /// Pixels, before rounding.
    case pixels(FixedNumber)
    /// Per cent of the side.
    case percent(FixedNumber)

    private static let percentSuffix = "pc"

    /// Parses a number, followed by `pc` for a percentage.
    init?(_ text: Substring) {
        if text.hasSuffix(Self.percentSuffix) {
            guard let number = FixedNumber(text.dropLast(Self.percentSuffix.count).utf8) else { return nil }
            self = .percent(number)
        } else {
            guard let number = FixedNumber(text.utf8) else { return nil }
            self = .pixels(number)
        }
    }

    /// The number in either unit.
    var number: FixedNumber {
        switch self {
        case .pixels(let number), .percent(let number): number
        }
    }

    /// Returns the length in pixels, not rounded, for an image whose side is `side`.
    func pixels(of side: Int) -> Double {
        switch self {
        case .pixels(let number): number.double
        case .percent(let number): Double(side) * number.double / 100
        }
    }

    /// Returns the length in whole pixels, rounded half up.
    func roundedPixels(of side: Int) -> Int {
        Int((pixels(of: side) + 0.5).rounded(.down))
    }

    /// Pixels, but at most so many; a percentage is unchanged.
    func bounded(by most: Int) -> Length {
        guard case .pixels(let number) = self, number.double > Double(most) else { return self }
        return .pixels(FixedNumber(most))
    }

    /// Multiplies pixels; a percentage is unchanged, because the image that it refers to is already larger.
    func scaled(by factor: Double) -> Length {
        guard case .pixels(let number) = self else { return self }
        return .pixels(number.scaled(by: factor))
    }
}

extension Length: CustomStringConvertible {
    package var description: String {
        switch self {
        case .pixels(let number): number.description
        case .percent(let number): number.description + Self.percentSuffix
        }
    }
}
