// SPDX-License-Identifier: Apache-2.0

package import Imaging

/// The configured automatic formats that an `Accept` field names, best first.
///
/// The class replaces the field's text in aliases, and its formats do so in keys of results, so that all
/// browsers that prefer the same formats share one cache entry. Four bits per format.
package struct AcceptClass: Sendable, Hashable {
    /// The formats' numbers plus one, the best in the lowest four bits; 0 if none is named.
    package private(set) var rawValue: UInt32 = 0

    /// Names no automatic format.
    package init() {}

    /// The formats, best first.
    package var formats: [ImageFormat] {
        let all = ImageFormat.allCases
        return stride(from: UInt32(0), to: 32, by: 4).compactMap { shift in
            let number = Int(rawValue >> shift & 15)
            return number == 0 ? nil : all[all.index(all.startIndex, offsetBy: number - 1)]
        }
    }

    /// Reads a field's bytes (RFC 9110 §12.5.1): the highest q first, ties in the configured order; `q=0`
    /// refuses.
    ///
    /// Ranges such as `image/*` name no format. Skips a malformed member. Does not allocate.
    /// - Parameters:
    ///   - bytes: the value of `Accept`, its lines joined.
    ///   - candidates: the automatic formats by rank, at most eight.
    package init(accept bytes: UnsafeRawBufferPointer, candidates: AutomaticFormats) {
        var qualities = InlineArray<8, Int>(repeating: 0)
        var members = unsafe MediaRanges(bytes)
        while let range = unsafe members.next() {
            guard let rank = unsafe candidates.rank(of: range.type) else { continue }
            qualities[rank] = unsafe max(qualities[rank], range.quality)
        }
        var shift = UInt32(0)
        while let best = Self.best(qualities, count: candidates.count) {
            qualities[best] = 0
            rawValue |= candidates.number(at: best) << shift
            shift += 4
        }
    }

    /// The same for a field's text.
    package init(accept field: String, candidates: AutomaticFormats) {
        self = unsafe Array(field.utf8).withUnsafeBytes { bytes in
            unsafe AcceptClass(accept: bytes, candidates: candidates)
        }
    }

    private static func best(_ qualities: InlineArray<8, Int>, count: Int) -> Int? {
        var best: Int?
        for rank in 0..<count where qualities[rank] > (best.map { qualities[$0] } ?? 0) { best = rank }
        return best
    }
}

/// The configured automatic formats, prepared for comparison with `Accept`.
package struct AutomaticFormats: Sendable, Hashable {
    /// The formats by rank; among equal q-values the earlier format wins.
    package let formats: [ImageFormat]
    private let mediaTypes: [[UInt8]]
    private let numbers: [UInt32]

    /// The maximum number of formats.
    static let maximumCount = 8

    /// Creates a list of the first eight of `formats`.
    package init(_ formats: [ImageFormat]) {
        self.formats = Array(formats.prefix(Self.maximumCount))
        mediaTypes = self.formats.map { Array($0.traits.mediaType.utf8) }
        numbers = self.formats.map { UInt32((ImageFormat.allCases.firstIndex(of: $0) ?? 0) + 1) }
    }

    var count: Int { formats.count }

    func number(at rank: Int) -> UInt32 { numbers[rank] }

    /// The rank of the format with this media type, compared without case; nil for an unknown type.
    func rank(of type: UnsafeRawBufferPointer) -> Int? {
        mediaTypes.firstIndex { unsafe $0.elementsEqual(type) { $0 == $1 | 0x20 || $0 == $1 } }
    }
}
