// SPDX-License-Identifier: Apache-2.0

/// An image format that the daemon knows, with one row of properties.
package enum ImageFormat: String, Sendable, CaseIterable, Codable, Hashable {
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

    /// The properties of a format.
    package struct Row: Sendable {
        /// The registered media type, as sent in `Content-Type`.
        package let mediaType: String
        /// The usual file name extension, without the dot.
        package let fileExtension: String
        /// Whether pixels may be transparent.
        package let supportsAlpha: Bool
        /// Whether it can contain more than one frame, and the daemon writes them.
        package let supportsAnimation: Bool
        /// Whether it can store all 8-bit levels exactly; AVIF rounds when it converts RGB to YCbCr.
        package let canBeLossless: Bool
        /// Whether every current browser displays it.
        package let isShownByBrowsers: Bool
        /// Whether the daemon can write it.
        package let isWritable: Bool
        /// The longest side that its encoder accepts, in pixels.
        package let maxSide: Int
    }

    /// Whether its encoder has a quality.
    package var hasQuality: Bool { [.jpeg, .webp, .avif, .jxl].contains(self) }

    /// Whether it can be written so that a part of the file shows the whole picture roughly.
    package var canBeProgressive: Bool { self == .jpeg || self == .png }

    /// Whether `lossless=1` has an effect: AVIF's rounds levels, but keeps the full resolution of every plane.
    package var mayRequestLossless: Bool { row.canBeLossless || self == .avif }

    /// Whether it is a HEIF format.
    var isHEIF: Bool { self == .avif || self == .heic }

    /// Whether one file may contain pictures of several sizes.
    package var hasPages: Bool { isHEIF || self == .tiff }

    /// The format's properties.
    package var row: Row {
        switch self {
        case .jpeg:
            Row(
                mediaType: "image/jpeg", fileExtension: "jpg", supportsAlpha: false, supportsAnimation: false,
                canBeLossless: false, isShownByBrowsers: true, isWritable: true, maxSide: 65_500)
        case .png:
            Row(
                mediaType: "image/png", fileExtension: "png", supportsAlpha: true, supportsAnimation: false,
                canBeLossless: true, isShownByBrowsers: true, isWritable: true, maxSide: 1_000_000)
        case .webp:
            Row(
                mediaType: "image/webp", fileExtension: "webp", supportsAlpha: true, supportsAnimation: true,
                canBeLossless: true, isShownByBrowsers: true, isWritable: true, maxSide: 16_383)
        case .avif:
            Row(
                mediaType: "image/avif", fileExtension: "avif", supportsAlpha: true, supportsAnimation: false,
                canBeLossless: false, isShownByBrowsers: true, isWritable: true, maxSide: 16_384)
        case .gif:
            Row(
                mediaType: "image/gif", fileExtension: "gif", supportsAlpha: true, supportsAnimation: true,
                canBeLossless: false, isShownByBrowsers: true, isWritable: true, maxSide: 65_535)
        case .heic:
            Row(
                mediaType: "image/heic", fileExtension: "heic", supportsAlpha: true, supportsAnimation: false,
                canBeLossless: false, isShownByBrowsers: false, isWritable: false, maxSide: 16_384)
        case .tiff:
            Row(
                mediaType: "image/tiff", fileExtension: "tiff", supportsAlpha: true, supportsAnimation: false,
                canBeLossless: true, isShownByBrowsers: false, isWritable: true, maxSide: 1_000_000)
        case .jxl:
            Row(
                mediaType: "image/jxl", fileExtension: "jxl", supportsAlpha: true, supportsAnimation: false,
                canBeLossless: true, isShownByBrowsers: false, isWritable: true, maxSide: 1_000_000)
        case .svg:
            Row(
                mediaType: "image/svg+xml", fileExtension: "svg", supportsAlpha: true,
                supportsAnimation: false, canBeLossless: false, isShownByBrowsers: false, isWritable: false,
                maxSide: 32_767)
        }
    }
}
