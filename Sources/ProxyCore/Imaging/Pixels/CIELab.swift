// SPDX-License-Identifier: Apache-2.0

/// A colour in CIELAB with the white of D65.
struct CIELab {
    let lightness: Double
    let a: Double
    let b: Double

    /// Encoded red, green and blue, which may lie outside of 0–1.
    private var encoded: [Double] {
        let y = (lightness + 16) / 116
        func light(_ value: Double, _ white: Double) -> Double {
            let cube = value * value * value
            return white * (cube > 216.0 / 24_389 ? cube : (116 * value - 16) * 27 / 24_389)
        }
        let (x, z) = (light(y + a / 500, 0.9505), light(y - b / 200, 1.089))
        let middle = light(y, 1)
        return [
            3.2406 * x - 1.5372 * middle - 0.4986 * z, -0.9689 * x + 1.8758 * middle + 0.0415 * z,
            0.0557 * x - 0.2040 * middle + 1.0570 * z,
        ].map(ToneCurve.encoded)
    }

    /// The levels of red, green and blue on the straight way from one colour to another.
    static func way(from: CIELab, to: CIELab) -> [ToneCurve] {
        (0..<3).map { band in
            ToneCurve { share in
                func mixed(_ component: KeyPath<CIELab, Double>) -> Double {
                    from[keyPath: component] * (1 - share) + to[keyPath: component] * share
                }
                return CIELab(lightness: mixed(\.lightness), a: mixed(\.a), b: mixed(\.b)).encoded[band]
            }
        }
    }
}
