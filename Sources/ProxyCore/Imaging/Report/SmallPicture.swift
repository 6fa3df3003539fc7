// SPDX-License-Identifier: Apache-2.0

/// A picture of at most 100 × 100 pixels as sRGB with alpha, not premultiplied, from which placeholders are
/// computed.
struct SmallPicture: Equatable {
    /// Width in pixels.
    let width: Int
    /// Height in pixels.
    let height: Int
    /// Red, green, blue and alpha of each pixel, row by row.
    let samples: [UInt8]

    /// The longest side: ThumbHash's maximum; more would not be visible in a placeholder.
    static let longestSide = 100
}
