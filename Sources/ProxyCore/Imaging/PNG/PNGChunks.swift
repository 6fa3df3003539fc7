// SPDX-License-Identifier: Apache-2.0

/// The chunks of a PNG file one after the other (PNG third edition §5.3), as far as they are whole.
@safe struct PNGChunks {
    /// The file.
    let file: UnsafeRawBufferPointer
    /// Where the next one begins.
    private var place = PNGChunks.signatureLength
    /// Whether the file breaks off within a chunk.
    private(set) var isCut = false

    /// The signature that every file begins with.
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let signatureLength = 8
    /// Length and name in front, checksum behind.
    private static let frame = (front: 8, behind: 4)

    /// A chunk's name: its four letters as one number.
    struct Name: Hashable {
        private let code: UInt32

        /// Takes four letters of ASCII.
        init(_ letters: StaticString) {
            code = unsafe UnsafeRawBufferPointer(start: letters.utf8Start, count: letters.utf8CodeUnitCount)
                .prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        }

        /// Takes the bytes of a file.
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
        /// What it is.
        let name: Name
        /// Its data.
        let body: Range<Int>
        /// All of it, from the length to the checksum.
        var whole: Range<Int> { body.lowerBound - frame.front..<body.upperBound + frame.behind }
    }

    /// Starts behind the signature.
    init(_ file: UnsafeRawBufferPointer) {
        unsafe self.file = unsafe file
    }

    /// The next chunk; nil at the end, or where it is cut off.
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

    /// Four bytes, the highest first.
    func number(at place: Int) -> Int {
        unsafe Int(UInt32(bigEndian: file.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
    }

    /// Two bytes, the higher first.
    func short(at place: Int) -> Int {
        unsafe Int(UInt16(bigEndian: file.loadUnaligned(fromByteOffset: place, as: UInt16.self)))
    }
}

extension PNGChunks {
    /// Most bytes that text and profile may unpack to, all together: decoders unpack them before they look at a pixel.
    private static let unpackedLimit = 16 << 20
    /// Most chunks of text: each becomes a field of the picture.
    private static let textLimit = 10_000
    /// Longest keyword (PNG third edition §11.3.3.1), with the byte that ends it.
    private static let keywordLimit = 80

    /// Throws for a file whose text or profile is meant to fill the memory. O(bytes, unpacked up to the limit).
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
            left -= unsafe PackedBytes.unpackedLength(of: part, atMost: left)
            guard left >= 0 else { throw .badImageData("text or a profile unpacks to too much") }
        }
        guard texts <= textLimit else { throw .badImageData("too many chunks of text") }
        // A still without its end is whole when its pixels are.
        if let announced = frames.announced,
            chunks.isCut || !isEnded && (frames.begun < announced || !hasData)
        {
            throw .badImageData("an animation that breaks off")
        }
    }

    private static let texted: Set<Name> = [.text, .compressedText, .internationalText]

    /// What of a chunk is packed: behind the keyword, and in `iTXt` behind flags and two further words (§11.3.3).
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

    /// The EXIF block of a file, wherever it stands; nil when there is none.
    static func exif(of file: UnsafeRawBufferPointer) -> [UInt8]? {
        var chunks = unsafe PNGChunks(file)
        while let chunk = chunks.next() {
            if chunk.name == .exif { return unsafe Array(file[chunk.body]) }
        }
        return nil
    }
}
