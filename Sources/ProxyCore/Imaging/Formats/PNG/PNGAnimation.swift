// SPDX-License-Identifier: Apache-2.0

/// The animation of a PNG file (PNG third edition §4.9), read without libvips, which can't read it.
struct PNGAnimation: FramedAnimation, Equatable {
    /// The number of plays; 0 means for ever.
    let plays: Int
    /// The frames in the order they are shown; more than one, unless the default image is none of them.
    let frames: [AnimationFrame]
    /// Whether the default image, which other programs show, is the first frame.
    let beginsWithPicture: Bool
    /// The chunks that all frames share: palette, transparency, colour space.
    let shared: [Range<Int>]
    /// The body of the file's header.
    let header: Range<Int>
    /// The size of the whole animation.
    let canvas: PixelSize
    static let format = ImageFormat.png

    /// Frames beyond this number are not counted: no limit allows as many.
    private static let frameLimit = 65_536
    private static let frameControlLength = 26
    private static let sequenceLength = 4

    var timing: AnimationTiming { AnimationTiming(delays: frames.map(\.delay), loop: plays) }

    /// Reads the chunks; nil for a still, and for a file with an incomplete animation. O(number of chunks).
    init?(_ file: UnsafeRawBufferPointer) {
        guard unsafe file.starts(with: PNGChunks.signature) else { return nil }
        var chunks = unsafe PNGChunks(file)
        guard let first = chunks.next(), first.name == .header, first.body.count == 13 else { return nil }
        let canvas = PixelSize(
            chunks.number(at: first.body.lowerBound), chunks.number(at: first.body.lowerBound + 4))
        var plays: Int?
        var frames: [AnimationFrame] = []
        var shared: [Range<Int>] = []
        var hasPicture = false
        var beginsWithPicture = false
        while let chunk = chunks.next(), chunk.name != .end, frames.count <= Self.frameLimit {
            switch chunk.name {
            case .animation:
                guard chunk.body.count == 8, !hasPicture else { return nil }
                plays = chunks.number(at: chunk.body.lowerBound + 4)
            case .frame:
                guard plays != nil, let frame = Self.frame(chunk, chunks, on: canvas) else { return nil }
                frames.append(frame)
            case .data:
                // A still is not read further.
                guard plays != nil else { return nil }
                beginsWithPicture = !frames.isEmpty
                if beginsWithPicture { frames[0].data.append(chunk.body) }
                hasPicture = true
            case .frameData:
                guard hasPicture, !frames.isEmpty, chunk.body.count >= Self.sequenceLength else { return nil }
                frames[frames.count - 1].data.append(chunk.body.dropFirst(Self.sequenceLength))
            default:
                if !hasPicture, Self.sharedNames.contains(chunk.name) { shared.append(chunk.whole) }
            }
        }
        // A single frame is a still, unless the default image is another one, which only other programs show.
        guard let plays, frames.count > (beginsWithPicture ? 1 : 0), frames.allSatisfy({ !$0.data.isEmpty })
        else { return nil }
        if beginsWithPicture, frames[0].place != PixelRectangle(left: 0, top: 0, size: canvas) { return nil }
        self.canvas = canvas
        self.plays = plays
        self.frames = frames
        self.beginsWithPicture = beginsWithPicture
        self.shared = shared
        header = first.body
    }

    private static let sharedNames: Set<PNGChunks.Name> = [
        PNGChunks.Name("PLTE"), PNGChunks.Name("tRNS"), PNGChunks.Name("iCCP"), PNGChunks.Name("sRGB"),
        PNGChunks.Name("gAMA"), PNGChunks.Name("cHRM"), PNGChunks.Name("sBIT"),
    ]

    /// Reads a frame's control chunk (§11.3.6.2); nil if it is invalid.
    private static func frame(
        _ chunk: PNGChunks.Chunk, _ chunks: PNGChunks, on canvas: PixelSize
    ) -> AnimationFrame? {
        guard chunk.body.count == frameControlLength else { return nil }
        let start = chunk.body.lowerBound + sequenceLength
        let (width, height) = (chunks.number(at: start), chunks.number(at: start + 4))
        let (left, top) = (chunks.number(at: start + 8), chunks.number(at: start + 12))
        let disposal = unsafe AnimationFrame.Disposal(rawValue: Int(chunks.file[start + 20]))
        let blending = unsafe chunks.file[start + 21]
        guard let disposal, blending <= 1, width > 0, height > 0, left + width <= canvas.width,
            top + height <= canvas.height
        else { return nil }
        let parts = chunks.number(at: start + 18, length: 2)
        return AnimationFrame(
            place: PixelRectangle(left: left, top: top, size: PixelSize(width, height)),
            delay: chunks.number(at: start + 16, length: 2) * 1_000 / (parts == 0 ? 100 : parts),
            disposal: disposal, isLaidOver: blending == 1)
    }

    /// Returns a frame as a file of its own.
    func still(_ index: Int, in file: UnsafeRawBufferPointer) -> [UInt8] {
        let frame = frames[index]
        var bytes = PNGChunks.signature
        let sides = [frame.place.size.width, frame.place.size.height].flatMap { bigEndian($0) }
        let rest = unsafe Array(file[header.dropFirst(8)])
        Self.append("IHDR", sides + rest, to: &bytes)
        for range in shared { unsafe bytes += file[range] }
        var data: [UInt8] = []
        data.reserveCapacity(frame.data.reduce(0) { $0 + $1.count })
        for range in frame.data { unsafe data += file[range] }
        Self.append("IDAT", data, to: &bytes)
        Self.append("IEND", [], to: &bytes)
        return bytes
    }

    private static func append(_ name: String, _ body: [UInt8], to bytes: inout [UInt8]) {
        bytes += bigEndian(body.count)
        let start = bytes.count
        bytes += Array(name.utf8)
        bytes += body
        bytes += bigEndian(Int(PNGChecksum.of(bytes[start...])))
    }
}
