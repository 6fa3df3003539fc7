// SPDX-License-Identifier: Apache-2.0

/// Smaller versions of large originals, which make further sizes cheap. Configuration:
/// `transform.intermediates`.
package struct IntermediateConfiguration: Sendable, Hashable, Codable {
    /// Whether intermediates are made and used: a smaller copy of a large original, made with its second size in the same
    /// decoding, from which later sizes up to half its own are made, unless the result is to be lossless. Default true.
    package var enabled: Bool = true
    /// The longest side of an intermediate, in pixels. Default 1600: 800, 400 and 200 are even fractions of it, to which a
    /// decoder of JPEG or WebP shrinks by itself.
    package var side: Int = 1_600
    /// The minimum number of pixels of an original that gets an intermediate. Default 4,000,000.
    package var minPixels: Int = 4_000_000
    /// The encoder quality of an intermediate, 1–100. Default 88.
    package var quality: Int = 88
    /// The maximum number of originals whose first size is remembered; beyond it the oldest is removed. Default 4096, about
    /// 100 bytes each.
    package var originals: Int = 4_096

    /// Creates the defaults.
    package init() {}
}
