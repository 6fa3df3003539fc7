// SPDX-License-Identifier: Apache-2.0

/// Which formats are read and chosen. Configuration: `formats`.
package struct FormatsConfiguration: Sendable, Hashable, Codable {
    /// Formats chosen automatically when the client accepts them explicitly; ties go to the earlier one.
    package var auto: [ImageFormat] = [.avif, .webp]
    /// AVIF is chosen automatically only for fewer output pixels than this. Default 2,000,000.
    package var avifMaxPixels: Int = 2_000_000
    /// Formats that may be decoded; others are 415 `unsupported_format`.
    package var decode: [ImageFormat] = [.jpeg, .png, .webp, .gif, .avif, .heic]
    /// Whether an SVG without any transform is sent unchanged, once `decode` names SVG; otherwise its pixels
    /// are. Default false.
    package var svgPassThrough = false

    /// Creates the defaults.
    package init() {}
}

/// Default encoder qualities, 1–100. Configuration: `quality`.
package struct QualityConfiguration: Sendable, Hashable, Codable {
    /// JPEG. Default 80.
    package var jpeg: Int = 80
    /// WebP. Default 79.
    package var webp: Int = 79
    /// AVIF. Default 63.
    package var avif: Int = 63
    /// JPEG XL. Default 77.
    package var jxl: Int = 77

    /// Creates the defaults.
    package init() {}

    /// The same, by format.
    package var byFormat: [ImageFormat: Int] { [.jpeg: jpeg, .webp: webp, .avif: avif, .jxl: jxl] }
}
