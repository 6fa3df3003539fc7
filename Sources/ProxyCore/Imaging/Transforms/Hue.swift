// SPDX-License-Identifier: Apache-2.0

import Glibc

/// `hue:90` — rotates the hues.
struct Hue: MatrixTransforming {
    static let name = "hue"
    static let summary = "Turns the colour circle, as CSS hue-rotate() does."
    static let parameters = [degrees]

    private static let degrees = TransformParameter(
        "degrees", .number(-360...360), .required, "Degrees; 0 and 360 leave the picture.")

    let arguments: TransformArguments

    var matrix: ColorMatrix {
        let angle = (arguments.number(Self.degrees) ?? 0) * .pi / 180
        return Self.matrix(cosine: cos(angle), sine: sin(angle))
    }

    /// The matrix of hueRotate (Filter Effects Module Level 1 §9.6).
    private static func matrix(cosine: Double, sine: Double) -> ColorMatrix {
        ColorMatrix(
            weights: (0..<9).map { index in constant[index] + cosine * even[index] + sine * odd[index] })
    }

    private static let constant = [0.213, 0.715, 0.072, 0.213, 0.715, 0.072, 0.213, 0.715, 0.072]
    private static let even = [0.787, -0.715, -0.072, -0.213, 0.285, -0.072, -0.213, -0.715, 0.928]
    private static let odd = [-0.213, -0.715, 0.928, 0.143, 0.140, -0.283, -0.787, 0.715, 0.072]
}
