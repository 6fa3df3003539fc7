// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A superellipse in the centre of a canvas: |x/a|ⁿ + |y/b|ⁿ ≤ 1.
struct Superellipse: MaskShape {
    /// The canvas' size in pixels.
    let canvas: PixelSize
    /// 2 for circles and ellipses, 4 for a squircle.
    let exponent: Double
    /// Half the shape's width in pixels.
    let halfWidth: Double
    /// Half the shape's height in pixels.
    let halfHeight: Double

    func crossings(at y: Double) -> [Double] {
        let v = abs(y - Double(canvas.height) / 2) / halfHeight
        guard v < 1 else { return [] }
        let half = halfWidth * pow(1 - pow(v, exponent), 1 / exponent)
        let middle = Double(canvas.width) / 2
        return [middle - half, middle + half]
    }
}
