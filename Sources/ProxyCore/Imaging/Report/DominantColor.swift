// SPDX-License-Identifier: Apache-2.0

/// The most frequent colour of a picture.
enum DominantColor {
    /// The number of bits of each channel that select a colour's cell.
    private static let bits = 4

    /// Returns the mean of the fullest of 4,096 equal cells of the colour cube, with pixels weighted by
    /// alpha; nil if the picture is fully transparent.
    static func color(of picture: SmallPicture) -> PixelColor? {
        let cellCount = 1 << (3 * bits)
        var weights = [Int](repeating: 0, count: cellCount)
        var sums = [Int](repeating: 0, count: cellCount * 3)
        for pixel in stride(from: 0, to: picture.samples.count, by: 4) {
            let alpha = Int(picture.samples[pixel + 3])
            let cell = (0..<3).reduce(0) { $0 << bits | Int(picture.samples[pixel + $1]) >> (8 - bits) }
            weights[cell] += alpha
            for band in 0..<3 { sums[cell * 3 + band] += Int(picture.samples[pixel + band]) * alpha }
        }
        guard let fullest = weights.indices.max(by: { weights[$0] < weights[$1] }), weights[fullest] > 0
        else { return nil }
        let weight = weights[fullest]
        let levels = (0..<3).map { UInt8((sums[fullest * 3 + $0] + weight / 2) / weight) }
        return PixelColor(red: levels[0], green: levels[1], blue: levels[2], alpha: .max)
    }
}
