// SPDX-License-Identifier: Apache-2.0

/// A picture format that the daemon knows: one row a format.
public enum ImageFormat: String, Sendable, CaseIterable, Codable, Hashable {
    /// JPEG (ITU-T T.81).
    case jpeg
    /// PNG, APNG included.
    case png
    /// WebP, lossy and lossless, still and animated.
    case webp
    /// AV1 in HEIF.
    case avif
    /// GIF 87a and 89a.
    case gif
    /// HEVC in HEIF; read only.
    case heic
    /// TIFF 6.0.
    case tiff
    /// JPEG XL.
    case jxl
    /// SVG, rasterised only.
    case svg

    /// What the code needs to know of a format.
    public struct Row: Sendable {
        /// The registered media type, as sent in `Content-Type`.
        public let mediaType: String
        /// The usual file name extension, without the dot.
        public let fileExtension: String
        /// Whether pixels may be transparent.
        public let supportsAlpha: Bool
        /// Whether it can hold more than one frame, and we write them.
        public let supportsAnimation: Bool
        /// Whether every current browser shows it.
        public let isShownByBrowsers: Bool
        /// Whether the daemon can write it.
        public let isWritable: Bool
    }

    /// The format's row.
    public var row: Row {
        switch self {
        case .jpeg:
            Row(
                mediaType: "image/jpeg", fileExtension: "jpg", supportsAlpha: false, supportsAnimation: false,
                isShownByBrowsers: true, isWritable: true)
        case .png:
            Row(
                mediaType: "image/png", fileExtension: "png", supportsAlpha: true, supportsAnimation: false,
                isShownByBrowsers: true, isWritable: true)
        case .webp:
            Row(
                mediaType: "image/webp", fileExtension: "webp", supportsAlpha: true, supportsAnimation: true,
                isShownByBrowsers: true, isWritable: true)
        case .avif:
            Row(
                mediaType: "image/avif", fileExtension: "avif", supportsAlpha: true, supportsAnimation: false,
                isShownByBrowsers: true, isWritable: true)
        case .gif:
            Row(
                mediaType: "image/gif", fileExtension: "gif", supportsAlpha: true, supportsAnimation: true,
                isShownByBrowsers: true, isWritable: true)
        case .heic:
            Row(
                mediaType: "image/heic", fileExtension: "heic", supportsAlpha: true, supportsAnimation: false,
                isShownByBrowsers: false, isWritable: false)
        case .tiff:
            Row(
                mediaType: "image/tiff", fileExtension: "tiff", supportsAlpha: true, supportsAnimation: false,
                isShownByBrowsers: false, isWritable: true)
        case .jxl:
            Row(
                mediaType: "image/jxl", fileExtension: "jxl", supportsAlpha: true, supportsAnimation: false,
                isShownByBrowsers: false, isWritable: true)
        case .svg:
            Row(
                mediaType: "image/svg+xml", fileExtension: "svg", supportsAlpha: true,
                supportsAnimation: false, isShownByBrowsers: false, isWritable: false)
        }
    }
}
