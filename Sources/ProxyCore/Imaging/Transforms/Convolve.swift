// SPDX-License-Identifier: Apache-2.0

/// `convolve:0_-1_0_-1_5_-1_0_-1_0:3` — weighs each pixel with its neighbours.
struct Convolve: ImageTransforming {
    static let name = "convolve"
    static let summary = "Makes each pixel the weighted sum of those around it; alpha stays."
    static let parameters = [weights, columns, scale]

    private static let maxSide = 7
    private static let weights = TransformParameter(
        "weights", .text(limit: 400), .required,
        "Numbers from -999 to 999 joined by _, row by row: an odd number of rows of at most \(maxSide).")
    private static let columns = TransformParameter(
        "columns", .whole(1...maxSide), .required, "How many there are in a row, an odd number.")
    private static let scale = TransformParameter(
        "scale", .number(-100_000...100_000), .value(.number(FixedNumber(1))),
        "What the sum is divided by; not 0.")

    let arguments: TransformArguments
    private let matrix: [Double]
    private let width: Int
    private let divisor: Double

    init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        width = Int(arguments.number(Self.columns) ?? 1)
        divisor = arguments.number(Self.scale) ?? 1
        let pieces = (arguments.text(Self.weights) ?? "").split(
            separator: "_", omittingEmptySubsequences: false)
        matrix = pieces.compactMap { FixedNumber($0.utf8)?.double }
        let rows = matrix.count / width
        guard matrix.count == pieces.count, matrix.count == rows * width, rows <= Self.maxSide,
            rows % 2 == 1, width % 2 == 1, matrix.allSatisfy({ abs($0) <= 999 })
        else {
            throw arguments.error(.malformed(expected: Self.weights.doc), Self.weights)
        }
        guard divisor != 0 else {
            throw arguments.error(.malformed(expected: "a number that is not 0"), Self.scale)
        }
    }

    func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        try image.inMemory().convolved(by: matrix, columns: width, scale: divisor)
    }
}
