// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A superellipse in the centre of a canvas, drawn into a mask with smooth edges: |x/a|ⁿ + |y/b|ⁿ ≤ 1.
struct ShapeMask {
    /// The mask's size in pixels.
    let canvas: PixelSize
    /// 2 for circles and ellipses, 4 for a squircle; other values are not supported.
    let exponent: Double
    /// Half the shape's width in pixels.
    let halfWidth: Double
    /// Half the shape's height in pixels.
    let halfHeight: Double

    /// Returns 255 for inside and 0 for outside, row by row; O(pixels).
    func mask() -> [UInt8] {
        var mask = [UInt8](repeating: 0, count: canvas.area)
        // The shape is symmetric, so a quarter of it is computed.
        for y in 0..<(canvas.height + 1) / 2 {
            for x in 0..<(canvas.width + 1) / 2 {
                let value = UInt8((coverage(Double(x) + 0.5, Double(y) + 0.5) * 255).rounded())
                let right = canvas.width - 1 - x
                let below = (canvas.height - 1 - y) * canvas.width
                mask[y * canvas.width + x] = value
                mask[y * canvas.width + right] = value
                mask[below + x] = value
                mask[below + right] = value
            }
        }
        return mask
    }

    /// The share of the pixel around a point that is inside, 0–1.
    private func coverage(_ x: Double, _ y: Double) -> Double {
        let u = abs(x - Double(canvas.width) / 2) / halfWidth
        let v = abs(y - Double(canvas.height) / 2) / halfHeight
        let slope = hypot(
            exponent * pow(u, exponent - 1) / halfWidth, exponent * pow(v, exponent - 1) / halfHeight)
        let isSmall = min(halfWidth, halfHeight) < Self.smallShape
        let distance = isSmall || slope == 0 ? 0 : excess(x, y) / slope
        return EdgeSampling.coverage(x, y, distance: distance) { excess($0, $1) <= 0 }
    }

    /// The left side of the formula minus 1.
    private func excess(_ x: Double, _ y: Double) -> Double {
        let u = (x - Double(canvas.width) / 2) / halfWidth
        let v = (y - Double(canvas.height) / 2) / halfHeight
        return exponent == 2 ? u * u + v * v - 1 : u * u * u * u + v * v * v * v - 1
    }

    /// Half sizes below this, in pixels, have too much curvature to compute distances from the slope.
    private static let smallShape = 8.0
}
