// SPDX-License-Identifier: Apache-2.0

/// `curve:0_20+128_140+255_255` — changes levels by curves through points.
struct Curve: ImageTransforming {
    static let name = "curve"
    static let summary = "Changes the levels of the encoded colours by smooth curves through points."
    static let parameters = [all, red, green, blue]

    /// Two numbers of three digits and two separators for each of at most 16 points.
    private static let limit = 128
    private static let form = "points as 0_20+128_140+255_255: levels from 0 to 255, the first numbers rising"
    private static let all = TransformParameter(
        "all", .text(limit: limit), .absent, "For all channels, after their own curves: \(form).")
    private static let red = TransformParameter("red", .text(limit: limit), .absent, "For red alone.")
    private static let green = TransformParameter("green", .text(limit: limit), .absent, "For green alone.")
    private static let blue = TransformParameter("blue", .text(limit: limit), .absent, "For blue alone.")

    let arguments: TransformArguments
    private let curves: [ToneCurve]

    init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        let common = try Self.curve(Self.all, arguments)
        var curves: [ToneCurve] = []
        for channel in [Self.red, Self.green, Self.blue] {
            let own = try Self.curve(channel, arguments)
            curves.append(ToneCurve { common.value(at: own.value(at: $0)) })
        }
        self.curves = curves
    }

    private static func curve(
        _ parameter: TransformParameter, _ arguments: TransformArguments
    ) throws(TransformError) -> SmoothCurve {
        guard let text = arguments.text(parameter) else { return SmoothCurve(through: [(0, 0), (1, 1)]) }
        let points = text.split(separator: "+", omittingEmptySubsequences: false).map { point in
            point.split(separator: "_", omittingEmptySubsequences: false).compactMap { UInt8($0) }
        }
        let isRising = zip(points, points.dropFirst()).allSatisfy { ($0.first ?? 0) < ($1.first ?? 0) }
        guard points.allSatisfy({ $0.count == 2 }), isRising else {
            throw arguments.error(.malformed(expected: form), parameter)
        }
        return SmoothCurve(through: points.map { (Double($0[0]) / 255, Double($0[1]) / 255) })
    }

    func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        try image.toned(by: curves)
    }
}

/// The natural cubic spline through points; level beyond the first and the last.
private struct SmoothCurve {
    private let points: [(x: Double, y: Double)]
    /// The second derivative at each point.
    private var bends: [Double]

    /// - Parameter points: at least one, by rising x.
    init(through points: [(Double, Double)]) {
        self.points = points.map { ($0.0, $0.1) }
        bends = [Double](repeating: 0, count: points.count)
        guard points.count > 2 else { return }
        // Gaussian elimination of the tridiagonal system, downwards and back.
        var scales = bends
        var rests = bends
        for index in 1..<points.count - 1 {
            let (before, after) = (width(index - 1), width(index))
            let pivot = 2 * (before + after) - before * scales[index - 1]
            scales[index] = after / pivot
            rests[index] = (6 * (slope(index) - slope(index - 1)) - before * rests[index - 1]) / pivot
        }
        for index in (1..<points.count - 1).reversed() {
            bends[index] = rests[index] - scales[index] * bends[index + 1]
        }
    }

    private func width(_ index: Int) -> Double { points[index + 1].x - points[index].x }

    private func slope(_ index: Int) -> Double {
        (points[index + 1].y - points[index].y) / width(index)
    }

    func value(at x: Double) -> Double {
        guard let index = points.lastIndex(where: { $0.x <= x }) else { return points[0].y }
        guard index + 1 < points.count else { return points[index].y }
        let width = width(index)
        let (right, left) = ((x - points[index].x) / width, (points[index + 1].x - x) / width)
        let bend =
            (left * left * left - left) * bends[index] + (right * right * right - right) * bends[index + 1]
        let value = left * points[index].y + right * points[index + 1].y + bend * width * width / 6
        return min(1, max(0, value))
    }
}
