// SPDX-License-Identifier: Apache-2.0

import Glibc
import Primitives

/// An sRGB colour with alpha, 8 bits each, not premultiplied.
package struct PixelColor: Sendable, Hashable {
    let red: UInt8
    let green: UInt8
    let blue: UInt8
    let alpha: UInt8

    package static let black = PixelColor(red: 0, green: 0, blue: 0, alpha: .max)
    static let white = PixelColor(red: .max, green: .max, blue: .max, alpha: .max)
    static let transparent = PixelColor(red: 0, green: 0, blue: 0, alpha: 0)

    /// Creates a colour from its components.
    init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Parses `RGB`, `RGBA`, `RRGGBB`, `RRGGBBAA`, a CSS name, or `transparent`, in any case.
    ///
    /// Hexadecimal wins; no CSS name consists of that many hexadecimal digits, so the grammar is unambiguous.
    init?(_ text: Substring) {
        let lowered = text.lowercased()
        if let color = Self.hexadecimal(lowered) {
            self = color
        } else if lowered == Self.transparentName {
            self = .transparent
        } else if let value = ColorNames.values[lowered] {
            self.init(
                red: UInt8(truncatingIfNeeded: value >> 16), green: UInt8(truncatingIfNeeded: value >> 8),
                blue: UInt8(truncatingIfNeeded: value), alpha: .max)
        } else {
            return nil
        }
    }

    private static let transparentName = "transparent"

    private static func hexadecimal(_ text: String) -> PixelColor? {
        let digits = text.compactMap { $0.isASCII ? $0.hexDigitValue.map(UInt8.init) : nil }
        guard digits.count == text.count else { return nil }
        let pairs: [UInt8]
        switch digits.count {
        case 3, 4: pairs = digits.map { $0 << 4 | $0 }
        case 6, 8: pairs = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        default: return nil
        }
        return PixelColor(
            red: pairs[0], green: pairs[1], blue: pairs[2], alpha: pairs.count == 4 ? pairs[3] : .max)
    }

    /// Whether it is fully opaque.
    package var isOpaque: Bool { alpha == .max }

    /// Whether it can be drawn in a grey picture.
    var isGrey: Bool { red == green && green == blue }

    /// Alpha as 0–1.
    var opacity: Double { Double(alpha) / Double(UInt8.max) }

    /// Red, green and blue as 0–1.
    var fractions: [Double] { [red, green, blue].map { Double($0) / Double(UInt8.max) } }

    /// The CSS notation of an opaque colour: `#rrggbb`.
    var cssText: String {
        "#" + [red, green, blue].map(\.hexadecimal).joined()
    }

    /// The four components for libvips, 0–255.
    var components: [Double] { [Double(red), Double(green), Double(blue), Double(alpha)] }
}

extension PixelColor: CustomStringConvertible {
    /// Lower-case hexadecimal in its shortest form.
    package var description: String {
        let opaque = alpha == .max
        let parts = opaque ? [red, green, blue] : [red, green, blue, alpha]
        let isShort = parts.allSatisfy { $0 >> 4 == $0 & 15 }
        return parts.map { part in
            isShort ? String(part & 15, radix: 16) : part.hexadecimal
        }.joined()
    }
}

extension PixelColor {
    /// The colour in CIELAB with the white of D65.
    var lab: CIELab {
        let light = fractions.map(ToneCurve.linear)
        func component(_ x: Double, _ y: Double, _ z: Double, _ white: Double) -> Double {
            let value = (x * light[0] + y * light[1] + z * light[2]) / white
            return value > 216.0 / 24_389 ? cbrt(value) : (24_389.0 / 27 * value + 16) / 116
        }
        let x = component(0.4124, 0.3576, 0.1805, 0.9505)
        let y = component(0.2126, 0.7152, 0.0722, 1)
        let z = component(0.0193, 0.1192, 0.9505, 1.089)
        return CIELab(lightness: 116 * y - 16, a: 500 * (x - y), b: 200 * (y - z))
    }
}
