// SPDX-License-Identifier: Apache-2.0

extension VipsSource {
    /// Whether the tiles of all grids of a HEIF file fill them; true where there are none. O(number of items and tiles).
    var gridsAreFilled: Bool { items { $0.gridsAreFilled } ?? true }

    /// Whether a HEIF file's picture is grey of limited range; false where that is not known.
    var isGreyOfLimitedRange: Bool { items { $0.isGreyOfLimitedRange } ?? false }

    /// Whether a HEIF file's colours are multiplied by its alpha; false where that is not known.
    var isPremultiplied: Bool { items { $0.isPremultiplied } ?? false }

    private borrowing func items(_ fact: (HEIFItems) -> Bool) -> Bool? {
        var answer: Bool?
        unsafe withBytes { (bytes) throws(Never) in answer = unsafe HEIFItems(bytes).map(fact) }
        return answer
    }
}
