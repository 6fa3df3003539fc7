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
        // What each column covers, and by how much the columns from each one on are covered more than those before.
        var covered = [Double](repeating: 0, count: canvas.width)
        var steps = [Double](repeating: 0, count: canvas.width + 1)
        for row in 0..<canvas.height {
            for line in 0..<Self.lines {
                let y = Double(row) + (Double(line) + 0.5) / Double(Self.lines)
                let crossings = crossings(at: y)
                for pair in stride(from: 0, to: crossings.count - 1, by: 2) {
                    Self.cover(&covered, &steps, from: crossings[pair], to: crossings[pair + 1])
                }
            }
            var whole = 0.0
            for column in 0..<canvas.width {
                whole += steps[column]
                mask[row * canvas.width + column] = UInt8(
                    min(255, ((covered[column] + whole) / Double(Self.lines) * 255).rounded()))
                covered[column] = 0
                steps[column] = 0
            }
            steps[canvas.width] = 0
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

    /// Adds a span: the shares of its first and its last column, and one step up and down for those between.
    private static func cover(
        _ covered: inout [Double], _ steps: inout [Double], from start: Double, to end: Double
    ) {
        let (start, end) = (max(0, start), min(Double(covered.count), end))
        guard start < end else { return }
        let (first, last) = (Int(start), min(covered.count, Int(end.rounded(.up))) - 1)
        guard first < last else {
            covered[first] += end - start
            return
        }
        covered[first] += Double(first + 1) - start
        covered[last] += end - Double(last)
        steps[first + 1] += 1
        steps[last] -= 1
    }
}
