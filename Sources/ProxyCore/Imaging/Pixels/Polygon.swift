// SPDX-License-Identifier: Apache-2.0

/// A polygon in the centre of a canvas, as large as fits.
struct Polygon: MaskShape {
    private let points: [(x: Double, y: Double)]
    /// The polygon's bounding box.
    let box: (width: Double, height: Double)

    /// - Parameter points: in any unit, y downwards, at least three.
    init(canvas: PixelSize, points: [(x: Double, y: Double)]) {
        let (xs, ys) = (points.map(\.x), points.map(\.y))
        let (left, right) = (xs.min() ?? 0, xs.max() ?? 1)
        let (top, bottom) = (ys.min() ?? 0, ys.max() ?? 1)
        let factor = min(Double(canvas.width) / (right - left), Double(canvas.height) / (bottom - top))
        let (width, height) = ((right - left) * factor, (bottom - top) * factor)
        let (startX, startY) = ((Double(canvas.width) - width) / 2, (Double(canvas.height) - height) / 2)
        self.points = points.map { (startX + ($0.x - left) * factor, startY + ($0.y - top) * factor) }
        box = (width, height)
    }

    func crossings(at y: Double) -> [Double] {
        points.indices.compactMap { index -> Double? in
            let (from, to) = (points[index], points[(index + 1) % points.count])
            guard (from.y <= y) != (to.y <= y) else { return nil }
            return from.x + (y - from.y) / (to.y - from.y) * (to.x - from.x)
        }.sorted()
    }
}
