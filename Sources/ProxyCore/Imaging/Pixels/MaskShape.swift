// SPDX-License-Identifier: Apache-2.0

/// A shape in a canvas that becomes a mask with smooth edges.
protocol MaskShape {
    /// Returns where the horizontal line at `y` crosses the edges of the shape, from left to right, in pixels: it is
    /// inside from the first crossing to the second, from the third to the fourth, and so on.
    func crossings(at y: Double) -> [Double]
}

extension MaskShape {
    /// Returns 255 for inside and 0 for outside, row by row; O(pixels).
    ///
    /// Of each row of pixels eight lines are computed, each of which covers its first and last pixel in part.
    func mask(on canvas: PixelSize) -> [UInt8] {
        let lines = 8
        var mask = [UInt8](repeating: 0, count: canvas.area)
        var row = CoveredRow(width: canvas.width)
        for y in 0..<canvas.height {
            for line in 0..<lines {
                let crossings = crossings(at: Double(y) + (Double(line) + 0.5) / Double(lines))
                for pair in stride(from: 0, to: crossings.count - 1, by: 2) {
                    row.cover(from: crossings[pair], to: crossings[pair + 1])
                }
            }
            row.take(into: &mask, at: y * canvas.width, lines: lines)
        }
        return mask
    }
}

/// How much of each pixel of a row its lines cover.
private struct CoveredRow {
    /// What each pixel is covered beyond the sum of `steps` up to it.
    private var covered: [Double]
    /// By how much the pixels from each one on are covered more than those before.
    private var steps: [Double]

    init(width: Int) {
        covered = Array(repeating: 0, count: width)
        steps = Array(repeating: 0, count: width + 1)
    }

    /// Adds a line: the shares of its first and its last pixel, and one step up and down for those between.
    mutating func cover(from start: Double, to end: Double) {
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

    /// Writes the row into the mask and empties it.
    mutating func take(into mask: inout [UInt8], at place: Int, lines: Int) {
        var whole = 0.0
        for column in covered.indices {
            whole += steps[column]
            mask[place + column] = UInt8(
                min(255, ((covered[column] + whole) / Double(lines) * 255).rounded()))
            (covered[column], steps[column]) = (0, 0)
        }
        steps[covered.count] = 0
    }
}
