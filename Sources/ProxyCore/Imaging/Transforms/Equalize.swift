// SPDX-License-Identifier: Apache-2.0

/// `equalize` — spreads the levels.
struct Equalize: ImageTransforming {
    static let name = "equalize"
    static let summary = "Spreads the levels of red, green and blue, each so that all are equally frequent."
    static let parameters: [TransformParameter] = []

    let arguments: TransformArguments

    init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
    }

    func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        let ready = try image.inMemory()
        let counts = try ready.histogram()
        let colors = ready.bands - (ready.hasAlpha ? 1 : 0)
        let curves = (0..<colors).map { band in Self.curve((0...255).map { counts[$0 * ready.bands + band] })
        }
        return try ready.lookedUp(in: curves + (ready.hasAlpha ? [.identity] : []))
    }

    /// The share of all pixels that are darker than a level; the brightest level that is there stays white.
    private static func curve(_ counts: [UInt32]) -> ToneCurve {
        let brightest = counts.last { $0 > 0 } ?? 0
        let step = counts.reduce(0) { $0 + Int($1) } - Int(brightest)
        guard step > 0 else { return .identity }
        var below = 0
        let shares = counts.map { count in
            defer { below += Int(count) }
            return Double(below) / Double(step)
        }
        return ToneCurve { shares[Int(($0 * 255).rounded())] }
    }
}
