// SPDX-License-Identifier: Apache-2.0

/// A polygon in the centre of a canvas, as large as fits, drawn into a mask with smooth edges.
struct PolygonMask {
    private let canvas: PixelSize
    private let points: [(x: Double, y: Double)]
    /// The polygon's bounding box.
    let box: (width: Double, height: Double)

    /// The number of lines that are computed for each row of pixels.
    private static let lines = 8

    /// - Parameter points: in any unit, y downwards, at least three.
    init(canvas: PixelSize, points: [(x: Double, y: Double)]) {
        self.canvas = canvas
        let (xs, ys) = (points.map(\.x), points.map(\.y))
        let (left, right) = (xs.min() ?? 0, xs.max() ?? 1)
        let (top, bottom) = (ys.min() ?? 0, ys.max() ?? 1)
        let factor = min(Double(canvas.width) / (right - left), Double(canvas.height) / (bottom - top))
        let (width, height) = ((right - left) * factor, (bottom - top) * factor)
        let (startX, startY) = ((Double(canvas.width) - width) / 2, (Double(canvas.height) - height) / 2)
        self.points = points.map { (startX + ($0.x - left) * factor, startY + ($0.y - top) * factor) }
        box = (width, height)
    }

    /// Returns 255 for inside and 0 for outside, row by row.
    func mask() -> [UInt8] {
        var mask = [UInt8](repeating: 0, count: canvas.area)
        for row in 0..<canvas.height {
            var covered = [Double](repeating: 0, count: canvas.width)
            for line in 0..<Self.lines {
                let y = Double(row) + (Double(line) + 0.5) / Double(Self.lines)
                let crossings = crossings(at: y)
                for pair in stride(from: 0, to: crossings.count - 1, by: 2) {
                    Self.cover(&covered, from: crossings[pair], to: crossings[pair + 1])
                }
            }
            for column in 0..<canvas.width {
                mask[row * canvas.width + column] = UInt8(
                    min(255, (covered[column] / Double(Self.lines) * 255).rounded()))
            }
        }
        return mask
    }

    /// Where a horizontal line meets the edges, from left to right.
    private func crossings(at y: Double) -> [Double] {
        points.indices.compactMap { index -> Double? in
            let (from, to) = (points[index], points[(index + 1) % points.count])
            guard (from.y <= y) != (to.y <= y) else { return nil }
            return from.x + (y - from.y) / (to.y - from.y) * (to.x - from.x)
        }.sorted()
    }

    private static func cover(_ row: inout [Double], from start: Double, to end: Double) {
        let (start, end) = (max(0, start), min(Double(row.count), end))
        guard start < end else { return }
        for column in Int(start)..<min(row.count, Int(end.rounded(.up))) {
            row[column] += min(end, Double(column + 1)) - max(start, Double(column))
        }
    }
}
