// SPDX-License-Identifier: Apache-2.0

/// What dialects must know of the formats that the daemon writes, by our names. They do not know the formats' own traits, with which
/// a test compares this.
enum OutputFormats {
    /// Those with a quality.
    static let withQuality: Set<String> = ["jpeg", "webp", "avif", "jxl"]
    /// Those of them that lose nothing where the request says so.
    static let losslessOnRequest: Set<String> = ["webp", "avif", "jxl"]
    /// Those that can be progressive or interlaced.
    static let progressive: Set<String> = ["jpeg", "png"]
}
