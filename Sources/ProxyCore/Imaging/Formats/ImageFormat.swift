// SPDX-License-Identifier: Apache-2.0

/// An image format that the daemon knows. What is known of it is its row, in its folder.
///
/// docs/adding-a-format.md lists what another one needs.
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

    /// How it is read and written.
    var coder: any FormatCoder.Type {
        switch self {
        case .jpeg: JPEG.self
        case .png: PNG.self
        case .webp: WebP.self
        case .avif: AVIF.self
        case .gif: GIF.self
        case .heic: HEIC.self
        case .tiff: TIFF.self
        case .jxl: JPEGXL.self
        case .svg: SVG.self
        }
    }

    /// What other modules ask of it.
    // A key path through it crashes the compiler (Swift 6.3): write a closure.
    package var traits: any FormatTraits.Type { coder }

    /// The formats that every current browser displays; every worker can read and write them.
    package static let shownByBrowsers = allCases.filter { $0.traits.isShownByBrowsers }
    /// Their names, for sentences.
    package static let titlesShownByBrowsers = shownByBrowsers.map { $0.traits.title }.joined(separator: ", ")

    /// The format of this name, or alias, in requests and settings; nil for any other text.
    package init?(named name: some StringProtocol) {
        let name = String(name)
        guard
            let format = ImageFormat(rawValue: name)
                ?? Self.allCases.first(where: { $0.traits.aliases.contains(name) })
        else { return nil }
        self = format
    }

    /// Whether it can be written. One whose coders libvips does not trust is written only if it may also be read.
    package func isWritable(decoding allowed: [ImageFormat]) -> Bool {
        traits.isWritable && (!traits.isWrittenOnlyIfRead || allowed.contains(self))
    }
}

// MARK: - Sniffing

extension ImageFormat {
    /// The number of leading bytes that determine a source's format; often fewer suffice, and more are not
    /// read.
    package static let sniffLength = 1_024

    /// Recognizes a format by its magic bytes, never by a name or a media type; nil for unknown bytes.
    ///
    /// - Parameter prefix: the source's first bytes; at most `sniffLength` of them are read.
    package init?(sniffing prefix: [UInt8]) {
        let bytes = prefix.prefix(Self.sniffLength)
        let signed = Self.allCases.first { $0.coder.signatures.contains(where: bytes.starts) }
        guard let format = signed ?? Self.allCases.first(where: { $0.coder.recognizes(bytes) }) else {
            return nil
        }
        self = format
    }
}
