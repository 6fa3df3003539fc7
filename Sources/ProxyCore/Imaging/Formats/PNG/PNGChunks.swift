// SPDX-License-Identifier: Apache-2.0

import CVips

/// Iterates over the complete chunks of a PNG file (PNG third edition §5.3).
@safe struct PNGChunks {
    let file: UnsafeRawBufferPointer
    /// The start of the next chunk.
    private var place = PNGChunks.signatureLength
    /// Whether the file ends within a chunk.
    private(set) var isCut = false

    /// The signature at the beginning of every file.
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let signatureLength = 8
    /// The lengths of a chunk's head (length and name) and of its checksum.
    private static let frame = (front: 8, behind: 4)

    /// A chunk's name: its four letters as a number.
    struct Name: Hashable {
        private let code: UInt32

        /// Creates a name from four ASCII letters.
        init(_ letters: StaticString) {
            code = unsafe UnsafeRawBufferPointer(start: letters.utf8Start, count: letters.utf8CodeUnitCount)
                .prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        }

        /// Creates a name from the bytes of a file.
        fileprivate init(code: UInt32) { self.code = code }

        static let header = Name("IHDR")
        static let data = Name("IDAT")
        static let end = Name("IEND")
        static let exif = Name("eXIf")
        static let profile = Name("iCCP")
        static let animation = Name("acTL")
        static let frame = Name("fcTL")
        static let frameData = Name("fdAT")
        static let text = Name("tEXt")
        static let compressedText = Name("zTXt")
        static let internationalText = Name("iTXt")
    }

    /// One chunk.
    struct Chunk {
        let name: Name
        /// Its data.
        let body: Range<Int>
        /// The whole chunk, from the length to the checksum.
        var whole: Range<Int> { body.lowerBound - frame.front..<body.upperBound + frame.behind }
    }

    /// Begins after the signature.
    init(_ file: UnsafeRawBufferPointer) {
        unsafe self.file = unsafe file
    }

    /// Returns the next chunk; nil at the end, or if it is incomplete.
    mutating func next() -> Chunk? {
        let start = place + Self.frame.front
        guard unsafe start <= file.count else {
            isCut = unsafe place < file.count
            return nil
        }
        let length = number(at: place)
        guard unsafe length <= file.count - start - Self.frame.behind else {
            isCut = true
            return nil
        }
        place = start + length + Self.frame.behind
        return Chunk(name: Name(code: UInt32(number(at: start - 4))), body: start..<start + length)
    }

    /// Reads a number of four bytes, or of two; 0 beyond the end.
    func number(at place: Int, length: Int = 4) -> Int {
        unsafe file.number(at: place, length: length) ?? 0
    }
}

extension PNGChunks {
    /// The maximum number of unpacked bytes of all texts and profiles together: decoders unpack them before
    /// any pixel.
    private static let unpackedLimit = 16 << 20
    /// The maximum number of text chunks: each becomes a field of the picture.
    private static let textLimit = 10_000
    /// The maximum length of a keyword (PNG third edition §11.3.3.1), with its terminator.
    private static let keywordLimit = 80

    /// Throws for a file whose texts or profile exceed the limits. O(bytes, unpacked up to the limit).
    static func checkWeight(of file: UnsafeRawBufferPointer) throws(ImagingError) {
        var chunks = unsafe PNGChunks(file)
        var texts = 0
        var left = unpackedLimit
        var pixels = PixelData()
        var frames: (announced: Int?, begun: Int) = (nil, 0)
        var (isEnded, hasData) = (false, false)
        while !isEnded, let chunk = chunks.next() {
            try pixels.note(chunk, chunks)
            switch chunk.name {
            case .animation where chunk.body.count == 8:
                frames.announced = chunks.number(at: chunk.body.lowerBound)
            case .frame:
                frames.begun += 1
                hasData = false
            case .data, .frameData: hasData = true
            case .end: isEnded = true
            default: break
            }
            if texted.contains(chunk.name) { texts += 1 }
            guard let packed = chunks.packedPart(of: chunk) else { continue }
            let part = unsafe UnsafeRawBufferPointer(rebasing: file[packed])
            // A little beyond the limit is enough to know; a damaged stream ends at the damage.
            left -= unsafe Int(shim_unpacked_length(part.baseAddress, part.count, left + 1))
            guard left >= 0 else { throw .badImageData("text or a profile unpacks to too much") }
        }
        guard texts <= textLimit else { throw .badImageData("too many chunks of text") }
        // A still without `IEND` is complete if its pixels are.
        if let announced = frames.announced,
            chunks.isCut || !isEnded && (frames.begun < announced || !hasData)
        {
            throw .badImageData("an animation that breaks off")
        }
    }

    private static let texted: Set<Name> = [.text, .compressedText, .internationalText]

    /// The compressed part of a chunk: after the keyword, and in `iTXt` after flags and two further texts
    /// (§11.3.3).
    private func packedPart(of chunk: Chunk) -> Range<Int>? {
        guard [.compressedText, .internationalText, .profile].contains(chunk.name) else { return nil }
        var start = chunk.body.lowerBound
        func skipWord(atMost limit: Int) -> Bool {
            let word = start..<min(start + limit, chunk.body.upperBound)
            guard let end = word.first(where: { unsafe file[$0] == 0 }) else { return false }
            start = end + 1
            return true
        }
        guard skipWord(atMost: Self.keywordLimit) else { return nil }
        if chunk.name == .internationalText {
            guard start + 2 <= chunk.body.upperBound, unsafe file[start] == 1 else { return nil }
            start += 2
            guard skipWord(atMost: .max / 2), skipWord(atMost: .max / 2) else { return nil }
        } else {
            start += 1
        }
        return start < chunk.body.upperBound ? start..<chunk.body.upperBound : nil
    }
}

/// CRC-32 as PNG defines it (PNG third edition, annex D).
enum PNGChecksum {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { sum, _ in sum & 1 == 1 ? 0xEDB8_8320 ^ sum >> 1 : sum >> 1 }
    }

    /// The checksum of a chunk's name and data; O(bytes).
    static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
        let table = table
        return ~bytes.reduce(UInt32.max) { sum, byte in
            table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8
        }
    }
}
