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
    package var metadata: RenderPlan.MetadataPolicy
    /// Bits of each pixel's index into a palette; nil lets PNG keep all colours and GIF take its 8.
    var paletteBits: Int?

    /// Whether WebP, which has one effort alone, takes half the time for a few per cent more bytes.
    package var isQuickWebP = false
    /// How much work to put into formats with a fast effort.
    package var effort = EncodingEffort.full

    package init(
        format: ImageFormat, quality: Int, isLossless: Bool, isProgressive: Bool? = nil,
        metadata: RenderPlan.MetadataPolicy,
        paletteBits: Int? = nil, isQuickWebP: Bool = false, effort: EncodingEffort = EncodingEffort.full
    ) {
        self.format = format
        self.quality = quality
        self.isLossless = isLossless
        self.isProgressive = isProgressive
        self.metadata = metadata
        self.paletteBits = paletteBits
        self.isQuickWebP = isQuickWebP
        self.effort = effort
    }

    /// Ways to write the same picture into fewer bytes, from the wanted one downwards; one alone where nothing can be
    /// given away.
    var attempts: [EncodeSettings] {
        guard !isLossless else { return [self] }
        switch format.traits.sizeReduction {
        case .quality:
            return (1...max(1, quality)).reversed().map { step in
                var settings = self
                settings.quality = step
                return settings
            }
        case .palette(let bits): return [self] + bits.map(withPalette)
        case .none: return [self]
        }
    }

    private func withPalette(_ bits: Int) -> EncodeSettings {
        var settings = self
        settings.paletteBits = bits
        return settings
    }
}

/// How much work goes into a picture in a format whose encoder can trade much time for few bytes (`FormatTraits.hasFastEffort`).
package enum EncodingEffort: UInt8, Sendable, Hashable, Codable {
    /// For a picture that is kept for long.
    case full = 0
    /// For a client that waits.
    case fast = 1
}
