// SPDX-License-Identifier: Apache-2.0

extension HEIFItems {
    /// The corrections of the levels that libheif 1.15.1 decodes. It expands colours of limited range, 16 to
    /// 235, only when it converts from YCbCr: grey and alpha are unchanged, and GBR is narrowed once more.
    struct Levels: Equatable {
        var ofColors = ToneCurve.identity
        var ofAlpha = ToneCurve.identity
        /// Whether colours have to be divided by alpha afterwards.
        var isPremultiplied = false
    }

    /// The corrections for the primary picture. O(number of items).
    var levels: Levels {
        var levels = Levels()
        if isGreyOfLimitedRange { levels.ofColors = .fromLimitedRange }
        if isGBROfLimitedRange { levels.ofColors = .fromLimitedRangeTwice }
        if isAlphaOfLimitedRange { levels.ofAlpha = .fromLimitedRange }
        levels.isPremultiplied = isPremultiplied
        return levels
    }

    /// Whether the primary picture is grey with levels from 16 to 235.
    var isGreyOfLimitedRange: Bool { Self.isGrey(codedBoxes) && isLimited }

    /// Whether the primary picture is green, blue and red instead of YCbCr, with levels from 16 to 235.
    var isGBROfLimitedRange: Bool {
        guard !Self.isGrey(codedBoxes), isLimited else { return false }
        return (Self.description(codedBoxes)?.matrix ?? sequence(of: coded(primary))?.matrix)
            == AV1SequenceHeader.identityMatrix
    }

    /// Whether alpha uses levels from 16 to 235. Only its bitstream decides, as in libavif.
    var isAlphaOfLimitedRange: Bool {
        guard let alpha = alphaOfPrimary else { return false }
        return sequence(of: coded(alpha)).map { !$0.isFullRange } ?? false
    }

    /// By the file's colour description; without one by the bitstream.
    private var isLimited: Bool {
        let isFull = Self.description(codedBoxes)?.isFullRange ?? sequence(of: coded(primary))?.isFullRange
        return isFull == false
    }

    /// The item itself, or the first tile of a grid.
    private func coded(_ item: Int) -> Int { types[item] == "grid" ? parts[item]?.first ?? item : item }

    private var codedBoxes: [BoxReader.Box] {
        let coded = coded(primary)
        return (properties[coded] ?? []) + (coded == primary ? [] : properties[primary] ?? [])
    }

    /// By the bit `monochrome` of AV1, or the chroma format of HEVC (ISO/IEC 14496-15 §8.3.3.1.2).
    private static func isGrey(_ boxes: [BoxReader.Box]) -> Bool {
        if var coding = boxes.first("av1C") {
            return coding.skip(2) != nil && coding.number(1).map { $0 & 0x10 != 0 } ?? false
        }
        guard var coding = boxes.first("hvcC") else { return false }
        return coding.skip(16) != nil && coding.number(1).map { $0 & 3 == 0 } ?? false
    }

    /// ISO/IEC 14496-12 §12.1.5.
    private static func description(_ boxes: [BoxReader.Box]) -> (matrix: Int, isFullRange: Bool)? {
        for box in boxes where box.type == "colr" {
            var colour = box.body
            guard colour.code() == "nclx", colour.skip(4) != nil, let matrix = colour.number(2),
                let flags = colour.number(1)
            else { continue }
            return (matrix, flags & 0x80 != 0)
        }
        return nil
    }

    /// The sequence header of an item's bitstream; nil if it is not AV1.
    private func sequence(of item: Int) -> AV1SequenceHeader? {
        guard types[item] == "av01" else { return nil }
        if let data = data(of: item), let header = AV1SequenceHeader(units: data) { return header }
        // The configuration contains the same header after four bytes.
        guard var coding = properties[item]?.first("av1C"), coding.skip(4) != nil else { return nil }
        return AV1SequenceHeader(units: coding)
    }
}
