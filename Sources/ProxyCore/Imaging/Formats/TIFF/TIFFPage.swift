// SPDX-License-Identifier: Apache-2.0

/// The sample format of one page of a TIFF (TIFF 6.0 §8, BigTIFF), as far as libvips 8.14 misreads it.
@safe struct TIFFPage {
    private let file: UnsafeRawBufferPointer
    private let order: ByteOrder
    /// The number of bytes of an offset: four, or eight in a BigTIFF.
    private let width: Int
    /// The positions of the entries of the page's directory.
    private var entries: [Int] = []

    private enum Tag: Int {
        case bits = 258
        case compression = 259
        case photometric = 262
        case planes = 284
        case tileWidth = 322
        case sampleFormat = 339
    }

    /// The maximum number of entries of a directory that are read.
    private static let entryLimit = 4_096
    /// The version of a BigTIFF.
    private static let big: UInt8 = 43
    private static let none = 1
    private static let jpeg = 7
    /// Compression codes of JPEG 2000, which, like JPEG, converts from YCbCr itself.
    private static let wavelets: Set<Int> = [33_003, 33_004, 33_005, 34_712]
    private static let rgb = 2
    private static let yCbCr = 6
    private static let separate = 2
    private static let unsigned = 1
    private static let fractions = 3
    /// The bits of the one kind of floating-point number that is read.
    private static let float = 32
    private static let undefined = 4

    /// Finds a page's directory; nil if there is none. O(number of pages before it).
    ///
    /// - Parameters:
    ///   - file: must exist as long as the page.
    ///   - index: counted from 0.
    init?(_ file: UnsafeRawBufferPointer, index: Int) {
        guard file.count >= 16 else { return nil }
        unsafe self.file = unsafe file
        order = unsafe file[0] == UInt8(ascii: "I") ? .littleEndian : .bigEndian
        width = unsafe file[2] == Self.big || file[3] == Self.big ? 8 : 4
        let length = entryLength
        var place = number(width == 8 ? 8 : 4, width)
        for step in 0...max(0, index) {
            // A directory: the number of its entries, the entries, the offset of the next directory.
            guard let start = place, start > 0, let count = number(start, width == 8 ? 8 : 2),
                count <= Self.entryLimit
            else { return nil }
            let first = start + (width == 8 ? 8 : 2)
            if step == index { entries = (0..<count).map { first + $0 * length } }
            place = number(first + count * length, width)
        }
    }

    private var entryLength: Int { width == 8 ? 20 : 12 }

    /// The unsupported property; nil if libvips reads the page correctly, or refuses it itself.
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
        if value(.sampleFormat) == Self.fractions,
            value(.photometric) != Self.rgb || value(.bits) != Self.float
        {
            return "TIFF of floating-point samples other than RGB of 32 bits"
        }
        if value(.planes) == Self.separate, value(.tileWidth) != nil { return "TIFF of tiles, a plane each" }
        return nil
    }

    /// The first value of a tag: a number of one, two or four bytes.
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
        unsafe file.number(at: place, length: length, order).flatMap { $0 <= Int(UInt32.max) << 8 ? $0 : nil }
    }
}
