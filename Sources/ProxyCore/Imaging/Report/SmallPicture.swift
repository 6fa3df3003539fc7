// SPDX-License-Identifier: Apache-2.0

/// A picture of at most 100 × 100 pixels as sRGB with alpha, not premultiplied: what placeholders are computed from.
struct SmallPicture: Equatable {
    /// Width in pixels.
    let width: Int
    /// Height in pixels.
    let height: Int
    /// Red, green, blue and alpha of each pixel, row by row.
    let samples: [UInt8]

    /// The longest side: ThumbHash takes no longer one, and more would show in no placeholder.
    static let longestSide = 100

    /// Collects pixels.
    init(width: Int, height: Int, samples: [UInt8]) {
        self.width = width
        self.height = height
        self.samples = samples
    }

    /// Whether any pixel shows what is below it.
    var hasAlpha: Bool { stride(from: 3, to: samples.count, by: 4).contains { samples[$0] != .max } }
}
