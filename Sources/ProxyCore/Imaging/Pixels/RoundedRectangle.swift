// SPDX-License-Identifier: Apache-2.0

/// A rectangle with round corners, drawn into a mask with smooth edges.
struct RoundedRectangle {
    /// The mask's size in pixels.
    let canvas: PixelSize
    /// The distance of the rectangle from each edge of the canvas, in pixels.
    let inset: Double
    /// The corners' radius in width, in pixels; 0 for square corners.
    let across: Double
    /// The corners' radius in height, in pixels; 0 for square corners.
    let down: Double
    /// The corners that are round: `tl`, `tr`, `bl`, `br`.
    let corners: Set<String>

    /// Returns 255 for inside and 0 for outside, row by row; O(pixels).
    func mask() -> [UInt8] {
        var mask = [UInt8](repeating: 0, count: canvas.area)
        let bends = Self.places.map { corners.contains($0) ? min(across, down) : 0 }
        for y in 0..<canvas.height {
            let row = y * canvas.width
            for x in 0..<canvas.width where isNearEdge(x, y) {
                mask[row + x] = UInt8((coverage(Double(x) + 0.5, Double(y) + 0.5, bends) * 255).rounded())
            }
            fillInner(&mask, row, y)
        }
        return mask
    }

    /// The width of the frame of pixels that corners and inset can affect.
    private var margin: Int { Int((inset + max(across, down)).rounded(.up)) + 1 }

    private func isNearEdge(_ x: Int, _ y: Int) -> Bool {
        let isRowNear = y < margin || y >= canvas.height - margin
        return isRowNear || x < margin || x >= canvas.width - margin
    }

    private func fillInner(_ mask: inout [UInt8], _ row: Int, _ y: Int) {
        guard y >= margin, y < canvas.height - margin, canvas.width > 2 * margin else { return }
        for x in margin..<canvas.width - margin { mask[row + x] = .max }
    }

    /// The corners in the order of rows.
    private static let places = ["tl", "tr", "bl", "br"]

    /// The share of the pixel around a point that is inside, 0–1.
    private func coverage(_ x: Double, _ y: Double, _ bends: [Double]) -> Double {
        EdgeSampling.coverage(x, y, distance: distance(x, y, bends)) { distance($0, $1, bends) <= 0 }
    }

    /// What the longer radius is multiplied by to get the shorter: ellipses become circles.
    private var squeeze: (x: Double, y: Double) {
        guard across > 0, down > 0 else { return (1, 1) }
        return (min(1, down / across), min(1, across / down))
    }

    /// The distance of a point from the edge, negative inside (a signed distance field).
    private func distance(_ x: Double, _ y: Double, _ bends: [Double]) -> Double {
        let scale = squeeze
        let (width, height) = (Double(canvas.width) * scale.x, Double(canvas.height) * scale.y)
        let (x, y) = (x * scale.x, y * scale.y)
        let bend = bends[(y < height / 2 ? 0 : 2) + (x < width / 2 ? 0 : 1)]
        // The distances beyond the rectangle's sides, moved inwards by the radius.
        let beyondX = abs(x - width / 2) - (width / 2 - inset * scale.x - bend)
        let beyondY = abs(y - height / 2) - (height / 2 - inset * scale.y - bend)
        let outside = (max(beyondX, 0) * max(beyondX, 0) + max(beyondY, 0) * max(beyondY, 0)).squareRoot()
        return outside + min(max(beyondX, beyondY), 0) - bend
    }
}
