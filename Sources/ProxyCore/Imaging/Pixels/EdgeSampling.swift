// SPDX-License-Identifier: Apache-2.0

/// The share of a pixel at a shape's edge that is inside, by sampling points within the pixel.
enum EdgeSampling {
    /// Pixels whose centre is farther from the edge than this are completely inside or outside; half a
    /// diagonal would suffice if distances were exact.
    private static let reach = 2.0
    /// The number of sampled points in each direction.
    private static let points = 8

    /// Returns the covered share of the pixel around (x, y), 0–1.
    ///
    /// - Parameters:
    ///   - distance: the approximate distance of its centre from the edge, negative inside.
    ///   - isInside: whether a point is inside the shape.
    static func coverage(
        _ x: Double, _ y: Double, distance: Double, isInside: (_ x: Double, _ y: Double) -> Bool
    ) -> Double {
        guard abs(distance) < reach else { return distance < 0 ? 1 : 0 }
        var count = 0
        for row in 0..<points {
            for column in 0..<points where isInside(x + offset(column), y + offset(row)) { count += 1 }
        }
        return Double(count) / Double(points * points)
    }

    /// The offset from a pixel's centre to the point with this number.
    private static func offset(_ index: Int) -> Double { (Double(index) + 0.5) / Double(points) - 0.5 }
}
