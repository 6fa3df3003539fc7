// SPDX-License-Identifier: Apache-2.0

/// A rectangle with round corners.
struct RoundedRectangle: MaskShape {
    /// The canvas' size in pixels.
    let canvas: PixelSize
    /// The distance of the rectangle from each edge of the canvas, in pixels.
    let inset: Double
    /// The corners' radius in width, in pixels; 0 for square corners.
    let across: Double
    /// The corners' radius in height, in pixels; 0 for square corners.
    let down: Double
    /// The corners that are round: `tl`, `tr`, `bl`, `br`.
    let corners: Set<String>

    func crossings(at y: Double) -> [Double] {
        let (top, bottom) = (inset, Double(canvas.height) - inset)
        guard y > top, y < bottom else { return [] }
        let isUpper = y < Double(canvas.height) / 2
        // How far the line is beyond the centre of the corners, as a share of the radius.
        let beyond = down > 0 ? max(0, isUpper ? top + down - y : y - (bottom - down)) / down : 0
        let indent = across * (1 - max(0, 1 - beyond * beyond).squareRoot())
        let (left, right) = isUpper ? ("tl", "tr") : ("bl", "br")
        return [
            inset + (corners.contains(left) ? indent : 0),
            Double(canvas.width) - inset - (corners.contains(right) ? indent : 0),
        ]
    }
}
