// SPDX-License-Identifier: Apache-2.0

/// The header of a WebP file (RFC 9649), read without libvips.
///
/// libvips allocates a whole frame as soon as it opens such a file, before memory can be granted.
struct WebPHeader: Equatable {
    /// The size of the canvas.
    let size: PixelSize
    /// The number of frames; 1 for a still.
    let frames: Int
    /// Whether there is an alpha band.
    let hasAlpha: Bool
    /// EXIF orientation, 1–8.
    let orientation: Int
    /// Whether a part is lossless, and so is decoded completely before it is shrunk.
    let isLossless: Bool

    static let riffHeader = 12
    static let chunkHeader = 8
    /// Bits of a VP8X chunk's first byte (RFC 9649 §2.7.1).
    enum Flag {
        static let animation = 0x02
        static let exif = 0x08
        static let alpha = 0x10
    }

    /// Reads the chunks' headers; nil if the file has no picture. O(number of chunks).
    init?(_ file: UnsafeRawBufferPointer) {
        var chunks = unsafe ChunkReader(file: file, place: Self.riffHeader)
        guard let first = chunks.next() else { return nil }
        let body = unsafe UnsafeRawBufferPointer(rebasing: file[first.body])
        switch first.name {
        case "VP8 ": unsafe self.init(lossy: body)
        case "VP8L": unsafe self.init(lossless: body)
        case "VP8X": unsafe self.init(extended: body, &chunks)
        default: return nil
        }
    }

    private init(size: PixelSize, frames: Int = 1, hasAlpha: Bool, orientation: Int = 1, isLossless: Bool) {
        self.size = size
        self.frames = frames
        self.hasAlpha = hasAlpha
        self.orientation = orientation
        self.isLossless = isLossless
    }

    /// A frame tag of 3 bytes, the start code 9D 01 2A, then 14 bits a side (RFC 6386 §9.1).
    private init?(lossy body: UnsafeRawBufferPointer) {
        guard body.count >= 10, unsafe body[3..<6].elementsEqual([0x9D, 0x01, 0x2A]) else { return nil }
        let size = unsafe PixelSize(
            Self.number(body, 6, 2) & 0x3FFF, Self.number(body, 8, 2) & 0x3FFF)
        self.init(size: size, hasAlpha: false, isLossless: false)
    }

    /// The signature 2F, then 14 bits a side, less one, and a bit for alpha (RFC 9649 §3.4).
    private init?(lossless body: UnsafeRawBufferPointer) {
        guard body.count >= 5, unsafe body[0] == 0x2F else { return nil }
        let bits = unsafe Self.number(body, 1, 4)
        self.init(
            size: PixelSize((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1), hasAlpha: bits >> 28 & 1 == 1,
            isLossless: true)
    }

    private init?(extended body: UnsafeRawBufferPointer, _ chunks: inout ChunkReader) {
        guard body.count >= 10 else { return nil }
        let flags = unsafe Int(body[0])
        var frames = 0
        var orientation = 1
        var isLossless = flags & Flag.animation != 0
        while let chunk = chunks.next() {
            if chunk.name == "ANMF" { frames += 1 }
            if chunk.name == "VP8L" { isLossless = true }
            if chunk.name == "EXIF", flags & Flag.exif != 0 {
                orientation = unsafe ExifBlock(Array(chunks.file[chunk.body]))?.orientation ?? 1
            }
        }
        let size = unsafe PixelSize(Self.number(body, 4, 3) + 1, Self.number(body, 7, 3) + 1)
        self.init(
            size: size, frames: flags & Flag.animation != 0 ? max(1, frames) : 1,
            hasAlpha: flags & Flag.alpha != 0, orientation: orientation, isLossless: isLossless)
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ length: Int) -> Int {
        unsafe bytes.number(at: start, length: length, .littleEndian) ?? 0
    }

    /// Iterates over the chunks of a file; the last one may be incomplete.
    @safe struct ChunkReader {
        let file: UnsafeRawBufferPointer
        /// The start of the next chunk.
        var place: Int

        mutating func next() -> (name: String, body: Range<Int>)? {
            let start = place + WebPHeader.chunkHeader
            guard unsafe start <= file.count else { return nil }
            let name = unsafe String(decoding: file[place..<place + 4], as: UTF8.self)
            let length = unsafe WebPHeader.number(file, place + 4, 4)
            // A chunk of an odd length is followed by a padding byte (RFC 9649 §2.3).
            place = start + length + length % 2
            return unsafe (name, start..<min(file.count, start + length))
        }
    }
}
