// SPDX-License-Identifier: Apache-2.0

/// What a TIFF says of how the samples of one page are kept (TIFF 6.0 §8, BigTIFF), as far as libvips 8.14 gets it wrong.
@safe struct TIFFPage {
    private let file: UnsafeRawBufferPointer
    private let isLittleEndian: Bool
    /// Bytes of an offset: four, or eight in a BigTIFF.
    private let width: Int
    /// Where the entries of the page's directory begin.
    private var entries: [Int] = []

    private enum Tag: Int {
        case compression = 259
        case photometric = 262
        case planes = 284
        case tileWidth = 322
        case sampleFormat = 339
    }

    /// Most entries of a directory that are looked at.
    private static let entryLimit = 4_096
    /// The version of a BigTIFF.
    private static let big: UInt8 = 43
    private static let none = 1
    private static let jpeg = 7
    /// Codes of JPEG 2000, which bring their own way back from YCbCr, as JPEG's do.
    private static let wavelets: Set<Int> = [33_003, 33_004, 33_005, 34_712]
    private static let yCbCr = 6
    private static let separate = 2
    private static let unsigned = 1
    private static let fractions = 3
    private static let undefined = 4

    /// Finds a page's directory; nil where there is none. O(number of pages before it).
    ///
    /// - Parameters:
    ///   - file: must outlive the page.
    ///   - index: counted from 0.
    init?(_ file: UnsafeRawBufferPointer, index: Int) {
        guard file.count >= 16 else { return nil }
        unsafe self.file = unsafe file
        isLittleEndian = unsafe file[0] == UInt8(ascii: "I")
        width = unsafe file[2] == Self.big || file[3] == Self.big ? 8 : 4
        let length = entryLength
        var place = number(width == 8 ? 8 : 4, width)
        for step in 0...max(0, index) {
            // A directory: the number of its entries, the entries, where the next one is.
            guard let start = place, start > 0, let count = number(start, width == 8 ? 8 : 2),
                count <= Self.entryLimit
            else { return nil }
            let first = start + (width == 8 ? 8 : 2)
            if step == index { entries = (0..<count).map { first + $0 * length } }
            place = number(first + count * length, width)
        }
    }

    private var entryLength: Int { width == 8 ? 20 : 12 }

    /// What of it is not supported; nil where libvips reads it rightly, or refuses it itself.
    var unsupported: String? {
        let code = value(.compression) ?? Self.none
        if value(.photometric) == Self.yCbCr, code != Self.jpeg, !Self.wavelets.contains(code) {
            return "TIFF in YCbCr without JPEG"
        }
        if let format = value(.sampleFormat),
            ![Self.unsigned, Self.fractions, Self.undefined].contains(format)
        {
            return "TIFF of signed or complex samples"
        }
        if value(.planes) == Self.separate, value(.tileWidth) != nil { return "TIFF of tiles, a plane each" }
        return nil
    }

    /// The first value of a tag: a byte, or a number of two or four bytes.
    private func value(_ tag: Tag) -> Int? {
        guard let entry = entries.first(where: { number($0, 2) == tag.rawValue }),
            let length = number(entry + 2, 2).flatMap({ [1: 1, 3: 2, 4: 4][$0] }),
            let count = number(entry + 4, width), count > 0
        else { return nil }
        let inline = entry + 4 + width
        guard count <= width / length else { return number(inline, width).flatMap { number($0, length) } }
        return number(inline, length)
    }

    private func number(_ place: Int, _ length: Int) -> Int? {
        guard place >= 0, length >= 0, unsafe place <= file.count - length else { return nil }
        let bytes = unsafe Array(file[place..<place + length])
        let value = (isLittleEndian ? bytes.reversed() : bytes).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(exactly: value).flatMap { $0 <= Int(UInt32.max) << 8 ? $0 : nil }
    }
}
