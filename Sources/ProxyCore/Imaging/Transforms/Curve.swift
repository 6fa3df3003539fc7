// SPDX-License-Identifier: Apache-2.0

/// `curve:0_0+128_160+255_255` — changes levels by curves through points.
struct Curve: ImageTransforming {
    static let name = "curve"
    static let summary =
        "Changes the encoded levels by natural cubic splines through points, each channel's own before that of all."
    static let parameters = ["all", "red", "green", "blue"].map { name in
        TransformParameter(
            name, .text(limit: 200), .absent,
            "The points for \(name == "all" ? "all channels" : name): old and new level, 0 to 255, joined by _, and the points by +."
        )
    }

    let arguments: TransformArguments
    private let curves: [ToneCurve]

    init(arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        var splines: [Spline] = []
        for parameter in Self.parameters { splines.append(try Self.spline(arguments, parameter)) }
        curves = splines.dropFirst().map { own in
            ToneCurve { splines[0].level(own.level($0 * 255)) / 255 }
        }
    }

    private static func spline(
        _ arguments: TransformArguments, _ parameter: TransformParameter
    ) throws(TransformError) -> Spline {
        guard let text = arguments.text(parameter) else { return Spline(points: []) }
        var points: [(x: Double, y: Double)] = []
        for piece in text.split(separator: "+", omittingEmptySubsequences: false) {
            let levels = piece.split(separator: "_").compactMap { FixedNumber($0.utf8)?.double }
            guard levels.count == 2, levels.allSatisfy({ (0...255).contains($0) }),
                points.last.map({ $0.x < levels[0] }) ?? true
            else {
                throw arguments.error(
                    .malformed(expected: "points such as 0_0+128_160+255_255, from left to right"), parameter)
            }
            points.append((levels[0], levels[1]))
        }
        return Spline(points: points)
    }

    func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage {
        try image.toned(byEach: curves)
    }
}

/// A natural cubic spline: its second derivative is 0 at both ends, outside of which it is constant.
struct Spline {
    private let points: [(x: Double, y: Double)]
    /// The second derivative at each point.
    private let bends: [Double]

    /// - Parameter points: from left to right; none for the identity.
    init(points: [(x: Double, y: Double)]) {
        self.points = points
        guard points.count > 2 else {
            bends = points.map { _ in 0 }
            return
        }
        // The system is tridiagonal: solved by elimination downwards and substitution upwards.
        var (bends, rest) = (points.map { _ in 0.0 }, points.map { _ in 0.0 })
        for index in 1..<points.count - 1 {
            let (before, here, after) = (points[index - 1], points[index], points[index + 1])
            let share = (here.x - before.x) / (after.x - before.x)
            let pivot = share * bends[index - 1] + 2
            let slopes = (after.y - here.y) / (after.x - here.x) - (here.y - before.y) / (here.x - before.x)
            bends[index] = (share - 1) / pivot
            rest[index] = (6 * slopes / (after.x - before.x) - share * rest[index - 1]) / pivot
        }
        for index in (0..<points.count - 1).reversed() {
            bends[index] = bends[index] * bends[index + 1] + rest[index]
        }
        bends[0] = 0
        self.bends = bends
    }

    /// The value at `x`, both in levels.
    func level(_ x: Double) -> Double {
        guard let first = points.first, let last = points.last else { return x }
        guard x > first.x else { return first.y }
        guard x < last.x, let right = points.firstIndex(where: { $0.x >= x }) else { return last.y }
        let (before, after) = (points[right - 1], points[right])
        let width = after.x - before.x
        let (a, b) = ((after.x - x) / width, (x - before.x) / width)
        let bend = (a * a * a - a) * bends[right - 1] + (b * b * b - b) * bends[right]
        return a * before.y + b * after.y + bend * width * width / 6
    }
}
