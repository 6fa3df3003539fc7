// SPDX-License-Identifier: Apache-2.0

/// How much of a pixel at a shape's edge is inside, by looking at points within the pixel.
enum EdgeSampling {
    /// Pixels whose middle is farther from the edge than this are wholly on one side; half a diagonal would do if
    /// distances were exact.
    private static let reach = 2.0
    /// Points looked at in each direction.
    private static let points = 8

    /// Returns the covered part of the pixel round (x, y), 0–1.
    ///
    /// - Parameters:
    ///   - distance: about how far its middle is from the edge, less than 0 inside.
    ///   - isInside: whether a point belongs to the shape.
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

    /// From a pixel's middle to the point of this number.
    private static func offset(_ index: Int) -> Double { (Double(index) + 0.5) / Double(points) - 0.5 }
}
