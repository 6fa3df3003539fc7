// SPDX-License-Identifier: Apache-2.0

/// Smaller versions of large originals, which make further sizes cheap. Configuration:
/// `transform.intermediates`.
public struct IntermediateConfiguration: Sendable, Hashable, Codable {
    /// Whether they are made and used. Default true. One is made with the second size of an original, in the same
    /// decoding; later sizes up to half its own are made from it, unless nothing may be lost.
    public var enabled: Bool = true
    /// Longest side of an intermediate, in pixels. Default 1600: 800, 400 and 200 are then even fractions, which a decoder
    /// of JPEG or WebP makes on its own.
    public var side: Int = 1_600
    /// Fewest pixels of an original that is worth one. Default 4,000,000.
    public var minPixels: Int = 4_000_000
    /// Encoder quality, 1–100. Default 88.
    public var quality: Int = 88
    /// Originals whose first size is remembered; beyond it the earliest is dropped. Default 4096, about 100
    /// bytes each.
    public var originals: Int = 4_096

    /// Creates the defaults.
    public init() {}
}
