// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A colour, read from another proxy's notation, written in ours.
struct DialectColor: Hashable {
    let red: UInt8
    let green: UInt8
    let blue: UInt8
    let alpha: UInt8

    static let transparent = DialectColor(red: 0, green: 0, blue: 0, alpha: 0)
    static let white = DialectColor(red: .max, green: .max, blue: .max, alpha: .max)

    /// Whether nothing shows through it.
    var isOpaque: Bool { alpha == .max }

    /// Whether it leaves everything as it is.
    var isTransparent: Bool { alpha == 0 }

    /// The colour of bars where it is laid under the whole picture afterwards: what shows through it must not get it twice.
    var ofBars: DialectColor { isOpaque ? self : .transparent }

    /// The colour in our grammar.
    var text: String {
        let parts = isOpaque ? [red, green, blue] : [red, green, blue, alpha]
        return parts.map(\.hexadecimal).joined()
    }
}

extension DialectColor {
    /// Where alpha stands among hexadecimal digits.
    enum AlphaPlace {
        case first, last
    }

    /// Reads a CSS name in any case, or 3, 4, 6 or 8 hexadecimal digits, also behind a `#`.
    init?(_ text: some StringProtocol, alpha place: AlphaPlace) {
        let text = text.lowercased()
        let digits = text.first == "#" ? text.dropFirst() : text[...]
        let alpha = place == .first && digits.count.isMultiple(of: 4) ? digits.count / 4 : 0
        guard
            let parts = ColorText.components(name: text)
                ?? ColorText.components(hexadecimal: digits.dropFirst(alpha) + digits.prefix(alpha))
        else { return nil }
        self.init(red: parts[0], green: parts[1], blue: parts[2], alpha: parts[3])
    }

    /// Reads any notation of CSS with red, green and blue (CSS Color Level 4 §5.1), or a name.
    init?(css text: String) {
        let lowered = text.lowercased()
        guard let open = lowered.firstIndex(of: "("), lowered.last == ")" else {
            // Without a `#` they are no colour in CSS, but clients leave it out, which an escape would be for.
            self.init(lowered, alpha: .last)
            return
        }
        guard ["rgb", "rgba"].contains(lowered[..<open]) else { return nil }
        let inside = lowered[lowered.index(after: open)...].dropLast()
        let numbers = inside.split { " ,/".contains($0) }.map(Self.component)
        guard [3, 4].contains(numbers.count), numbers.allSatisfy({ $0 != nil }) else { return nil }
        let levels = numbers.prefix(3).compactMap { $0 }.map { $0.isPercent ? $0.number * 2.55 : $0.number }
        let opacity = numbers.count == 4 ? numbers[3].map { $0.isPercent ? $0.number / 100 : $0.number } : 1
        self.init(
            red: Self.level(levels[0]), green: Self.level(levels[1]), blue: Self.level(levels[2]),
            alpha: Self.level((opacity ?? 1) * 255))
    }

    private static func component(_ text: Substring) -> (number: Double, isPercent: Bool)? {
        let isPercent = text.last == "%"
        return NumberText.decimal(isPercent ? text.dropLast() : text).map { ($0, isPercent) }
    }

    private static func level(_ number: Double) -> UInt8 { UInt8(min(max(number.rounded(), 0), 255)) }
}
