// SPDX-License-Identifier: Apache-2.0

/// `convolve:-1_-1_-1_-1_9_-1_-1_-1_-1:3` — mixes each pixel with its neighbours.
struct Convolve: ImageTransforming {
    static let name = "convolve"
    static let summary =
        "Mixes each pixel with its neighbours by a matrix; pixels beyond the edge are those of the edge."
    static let parameters = [values, columns, scale]

    private static let values = TransformParameter(
        "values", .text(limit: 400), .required,
        "The weights row by row, joined by _; an odd number of rows, at most 7.")
    private static let columns = TransformParameter(
        "columns", .whole(1...7), .required, "The number of weights in a row, odd.")
    private static let scale = TransformParameter(
        "scale", .number(FixedNumber(thousandths: 1)...FixedNumber(100_000)),
        .value(.number(FixedNumber(1))),
        "What the sum is divided by.")

    private static let mostRows = 7

    var cost: PixelCost { PixelCost(work: 12, memory: 8) }

    let arguments: TransformArguments
    private let weights: [Double]
    private let width: Int
    private let divisor: Double

    init(arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        width = Int(arguments.number(Self.columns) ?? 1)
        divisor = arguments.number(Self.scale) ?? 1
        let numbers = (arguments.text(Self.values) ?? "").split(
            separator: "_", omittingEmptySubsequences: false)
        weights = numbers.compactMap { FixedNumber($0.utf8)?.double }
        guard weights.count == numbers.count, weights.allSatisfy({ abs($0) <= 10_000 }) else {
            throw arguments.error(.malformed(expected: "numbers up to 10000, joined by _"), Self.values)
        }
        let rows = weights.count / width
        guard width % 2 == 1, rows % 2 == 1, rows <= Self.mostRows, rows * width == weights.count else {
            throw arguments.error(
                .malformed(expected: "odd numbers of rows and columns, at most 7"), Self.columns)
        }
    }

    func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage {
        try image.inMemory().onColors { colors throws(ImagingError) in
            try colors.convolved(with: weights, width: width, divisor: divisor)
        }
    }
}
