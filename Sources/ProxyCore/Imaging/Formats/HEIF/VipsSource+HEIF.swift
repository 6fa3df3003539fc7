// SPDX-License-Identifier: Apache-2.0

extension VipsSource {
    /// Whether the tiles of all grids of a HEIF file fill them; true without grids. O(number of items and
    /// tiles).
    var gridsAreFilled: Bool { items { $0.gridsAreFilled } ?? true }

    /// Corrects a HEIF file's decoded picture where libheif 1.15.1 (Debian 12) does not. O(number of items).
    ///
    /// - Returns: the picture, in 8 bits if it was corrected.
    borrowing func corrected(_ image: borrowing VipsImage) throws(ImagingError) -> VipsImage {
        guard let levels = items({ $0.levels }), levels != HEIFItems.Levels() else {
            return try image.duplicate()
        }
        let narrow = try image.inEightBits()
        let hasAlpha = narrow.hasAlpha
        let curves = [ToneCurve](repeating: levels.ofColors, count: narrow.bands - (hasAlpha ? 1 : 0))
        let scaled = try narrow.lookedUp(in: hasAlpha ? curves + [levels.ofAlpha] : curves)
        return try hasAlpha && levels.isPremultiplied ? scaled.unpremultiplied() : scaled.duplicate()
    }

    private borrowing func items<Fact>(_ fact: (HEIFItems) -> Fact) -> Fact? {
        var answer: Fact?
        unsafe withBytes { (bytes) throws(Never) in answer = unsafe HEIFItems(bytes).map(fact) }
        return answer
    }
}
