// SPDX-License-Identifier: Apache-2.0

/// How to write a picture.
package struct EncodeSettings: Sendable, Equatable {
    /// The format to write.
    package var format: ImageFormat
    /// 1–100, for formats that lose something.
    package var quality: Int
    /// Whether to lose nothing, where the format can choose.
    package var isLossless: Bool
    /// Whether to write progressive or interlaced; nil takes the format's default.
    package var isProgressive: Bool?
    /// What to keep of the metadata.
    package var metadata: Metadata
    /// Bits of each pixel's index into a palette; nil lets PNG keep all colours and GIF take its 8.
    var paletteBits: Int?

    /// Whether to take half the time for a few per cent more bytes, where an encoder offers that.
    package var isQuick = false
    /// How much work to put into AVIF and JPEG XL.
    package var effort = EncodingEffort.full

    /// Creates a value from its parts.
    package init(
        format: ImageFormat, quality: Int, isLossless: Bool, isProgressive: Bool? = nil, metadata: Metadata,
        paletteBits: Int? = nil, isQuick: Bool = false, effort: EncodingEffort = EncodingEffort.full
    ) {
        self.format = format
        self.quality = quality
        self.isLossless = isLossless
        self.isProgressive = isProgressive
        self.metadata = metadata
        self.paletteBits = paletteBits
        self.isQuick = isQuick
        self.effort = effort
    }

    /// What to keep of the metadata.
    package enum Metadata: Sendable {
        /// Who owns the picture.
        case copyright
        /// Everything.
        case all
        /// Nothing.
        case none
    }

    /// Ways to write the same picture into fewer bytes, from the wanted one downwards; one alone where nothing can be
    /// given away.
    var ladder: [EncodeSettings] {
        guard !isLossless else { return [self] }
        switch format {
        case .jpeg, .webp, .avif, .jxl:
            return (1...max(1, quality)).reversed().map { step in
                var settings = self
                settings.quality = step
                return settings
            }
        case .png: return [self] + Self.pngPaletteBits.map(withPalette)
        case .gif: return [self] + Self.gifPaletteBits.map(withPalette)
        case .tiff, .heic, .svg: return [self]
        }
    }

    /// The encoder takes no lower one: libvips would write the best instead, without a word.
    static let leastJXLQuality = 5
    /// PNG 1.2 §4.1.1 knows no other.
    private static let pngPaletteBits = [8, 4, 2, 1]
    private static let gifPaletteBits = [7, 6, 5, 4, 3, 2, 1]

    private func withPalette(_ bits: Int) -> EncodeSettings {
        var settings = self
        settings.paletteBits = bits
        return settings
    }
}

/// How much work goes into a picture in a format whose encoder can trade much time for few bytes: AVIF and JPEG XL.
package enum EncodingEffort: UInt8, Sendable, Hashable, Codable {
    /// For a picture that is kept for long.
    case full = 0
    /// For a client that waits.
    case fast = 1
}

extension ImageFormat {
    /// Whether its encoder takes much less time with the fast effort.
    package var hasFastEffort: Bool { self == .avif || self == .jxl }
}

/// How much work encoders put into smaller files.
enum EncodeEffort {
    /// Of 0–9. Measured at equal SSIMULACRA2 (75): 0 takes 9.7 ms for a photo 400 pixels wide where 3 takes 84, and 40 ms
    /// at 1000 pixels where 3 takes 410, for 6–10 % more bytes; 1, 2 and 4 gain less for their time.
    static let fastAVIF: Int32 = 0
    static let fullAVIF: Int32 = 3
    /// Of 0–6; libwebp's own default.
    static let webp: Int32 = 4
    /// What is made of an intermediate is mostly encoding. Measured on three photos made 640 pixels wide: 8–17 ms where 4
    /// takes 17–32, for 1–5% more bytes and at most 0.003 less structural similarity.
    static let quickWebP: Int32 = 2
    /// Work of 1–10, libvips' own default for a still, and how much of the error is spread.
    ///
    /// Nearly all of an animation's time goes into a palette for every frame, where they do not share one. Measured on three photos that
    /// move, 800 × 600: work 3 takes 27–38 % of the time of 7 for 1–4 % more bytes; with half the error spread the structural
    /// similarity is at most 0.003 less, and plain areas come out nearer to what they were.
    static func gif(moves: Bool, hasAllColors: Bool) -> (work: Int32, dither: Double) {
        moves ? (3, hasAllColors ? 0.5 : 1) : (7, 1)
    }
    /// Of 1–9; 7 is libjxl's own default. 5 takes about half its time for the same bytes.
    static let fastJXL: Int32 = 5
    static let fullJXL: Int32 = 7
    /// zlib's level, 0–9.
    static let png: Int32 = 6
}
