// SPDX-License-Identifier: Apache-2.0

/// A linear map of encoded red, green and blue, row by row.
package struct ColorMatrix: Sendable, Equatable {
    /// Nine weights: of red, green and blue in the new red, and so on.
    let weights: [Double]

    private static let sides = 0..<3
    private static let identity: [Double] = [1, 0, 0, 0, 1, 0, 0, 0, 1]
    /// The luminance of red, green and blue (Filter Effects Module Level 1 §13.1.1).
    static let luminance = [0.2126, 0.7152, 0.0722]

    /// Mixes the unchanged colour with `other`, whose share is `amount` (0–1).
    static func blend(toward other: [Double], by amount: Double) -> ColorMatrix {
        ColorMatrix(weights: zip(identity, other).map { $0 * (1 - amount) + $1 * amount })
    }

    /// The weights of grey.
    static let grey: [Double] = sides.flatMap { _ in luminance }
}
