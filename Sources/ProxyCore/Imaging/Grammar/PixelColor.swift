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

extension PixelColor {
    /// Parses `RGB`, `RGBA`, `RRGGBB`, `RRGGBBAA`, a CSS name, or `transparent`, in any case.
    ///
    /// No CSS name consists of that many hexadecimal digits, so the grammar is unambiguous.
    init?(_ text: Substring) {
        let lowered = text.lowercased()
        guard
            let parts = ColorText.components(hexadecimal: lowered[...])
                ?? ColorText.components(name: lowered)
        else { return nil }
        self.init(red: parts[0], green: parts[1], blue: parts[2], alpha: parts[3])
    }
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
