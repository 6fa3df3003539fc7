// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@testable import ImageTestSupport
@testable import Imaging

@Suite("Animated PNG")
struct AnimatedPNGTests {
    /// A frame as the test defines it.
    private struct Frame {
        var picture: TestPicture
        var left = 0
        var top = 0
        var delay = (parts: UInt16(1), of: UInt16(10))
        var disposal: UInt8 = 0
        var blending: UInt8 = 0
    }

    private static let red: [UInt8] = [255, 0, 0, 255]
    private static let green: [UInt8] = [0, 255, 0, 255]
    private static let blue: [UInt8] = [0, 0, 255, 255]
    private static let half: [UInt8] = [0, 0, 255, 128]
    private static let nothing: [UInt8] = [0, 0, 0, 0]

    private static func big(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(value >> $0 & 0xFF) } }

    private static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
        let inner = Array(name.utf8) + body
        return big(body.count) + inner + big(Int(PNGChecksum.of(inner)))
    }

    private static func chunks(_ name: PNGChunks.Name, of file: [UInt8]) -> [[UInt8]] {
        file.withUnsafeBytes { bytes in
            var reader = PNGChunks(bytes)
            var found: [[UInt8]] = []
            while let chunk = reader.next() {
                if chunk.name == name { found.append(Array(bytes[chunk.body])) }
            }
            return found
        }
    }

    /// An animation on the canvas of its first frame, or of a default image outside the animation.
    private static func file(
        _ frames: [Frame], plays: Int = 3, hidden: TestPicture? = nil, count: Int? = nil, extra: [UInt8] = []
    ) throws -> [UInt8] {
        let first = try (hidden ?? frames[0].picture).encoded(as: .png)
        var bytes = PNGChunks.signature + chunk("IHDR", chunks(.header, of: first)[0])
        bytes += chunk("acTL", big(count ?? frames.count) + big(plays)) + extra
        var sequence = 0
        if hidden != nil { bytes += chunk("IDAT", chunks(.data, of: first).flatMap { $0 }) }
        for (index, frame) in frames.enumerated() {
            let sides = big(frame.picture.width) + big(frame.picture.height)
            let place = big(frame.left) + big(frame.top)
            let delay = [frame.delay.parts, frame.delay.of].flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
            bytes += chunk(
                "fcTL", big(sequence) + sides + place + delay + [frame.disposal, frame.blending])
            sequence += 1
            let data = try chunks(.data, of: frame.picture.encoded(as: .png)).flatMap { $0 }
            if index == 0, hidden == nil {
                bytes += chunk("IDAT", data)
            } else {
                // In two parts, which an encoder may write.
                for part in [data.prefix(7), data.dropFirst(7)] {
                    bytes += chunk("fdAT", big(sequence) + Array(part))
                    sequence += 1
                }
            }
        }
        return bytes + chunk("IEND", [])
    }

    private static let three = [
        Frame(picture: .plain(12, 8, red)),
        Frame(picture: .plain(4, 4, half), left: 2, top: 2, delay: (250, 1_000), disposal: 1, blending: 1),
        Frame(picture: .plain(4, 4, green), left: 8, top: 4, delay: (3, 0)),
    ]

    @Test("All frames are composed, blended or replacing, over the rest of the earlier ones (§11.3.6)")
    func composed() async throws {
        let result = try await rendered(try Self.file(Self.three), "", as: .explicit(.webp)) {
            $0.isLossless = true
        }

        let picture = result.picture
        #expect(result.rendition.frames == 3 && picture.width == 12 && picture.height == 24)
        #expect(picture[3, 3] == Self.red)
        #expect(picture[3, 8 + 3] == [127, 0, 128, 255], "half of blue on red")
        #expect(picture[0, 8] == Self.red)
        #expect(picture[3, 16 + 3] == Self.nothing, "the second frame's place is cleared")
        #expect(picture[9, 16 + 5] == Self.green)
        let source = try openedSource(result.bytes)
        let timing = try WebP.timing(of: source)
        #expect(timing == AnimationTiming(delays: [100, 250, 30], loop: 3))
    }

    @Test("A frame may restore the canvas before it")
    func restored() async throws {
        var frames = Self.three
        frames[1].disposal = 2

        let result = try await rendered(try Self.file(frames), "flip:h,flip:h", as: .explicit(.webp)) {
            $0.isLossless = true
        }

        #expect(result.picture[3, 8 + 3] == [127, 0, 128, 255])
        #expect(result.picture[3, 16 + 3] == Self.red)
    }

    @Test("Not even if the animation has a single frame, which is a still then")
    func hiddenBesideOne() async throws {
        let frame = Frame(
            picture: .plain(12, 8, Self.green), left: 0, top: 0, delay: (1, 10), disposal: 0, blending: 0)
        let bytes = try Self.file([frame], hidden: .plain(12, 8, Self.blue))
        let still = try Self.file([frame])

        for (file, format) in [(bytes, ImageFormat.png), (still, .png), (bytes, .jpeg)] {
            let made = try await rendered(file, as: .explicit(format))
            #expect(made.rendition.source.frames == 1 && made.rendition.frames == 1)
            #expect(made.picture[3, 3][1] > 250 && made.picture[3, 3][2] < 5, "\(format)")
        }
    }

    @Test("A default image outside the animation is not shown")
    func hidden() async throws {
        let bytes = try Self.file(Self.three, hidden: .plain(12, 8, Self.blue))

        #expect(try await rendered(bytes, "", as: .explicit(.gif)).rendition.frames == 3)
        #expect(try await rendered(bytes).picture[0, 0] == [255, 0, 0])
        #expect(try await rendered(bytes) { $0.animation = .first }.picture[3, 3] == [255, 0, 0])
    }

    @Test("One frame may be selected; formats without animation, also PNG, get the first")
    func single() async throws {
        let bytes = try Self.file(Self.three)

        let third = try await rendered(bytes) { $0.frame = 2 }
        #expect(third.rendition.frames == 1 && third.picture.height == 8)
        #expect(third.picture[9, 5] == Self.green && third.picture[3, 3] == Self.nothing)
        await #expect(throws: RenderError.frameOutOfRange("")) { try await rendered(bytes) { $0.frame = 3 } }
        for choice in [RenderPlan.FormatChoice.source, .explicit(.png), .explicit(.jpeg)] {
            #expect(try await rendered(bytes, "resize:6x", as: choice).rendition.frames == 1)
        }
        #expect(try await rendered(bytes, "resize:6x", as: .automatic([.webp])).rendition.format == .webp)
        #expect(try await rendered(bytes, "resize:6x", as: .automatic([])).rendition.format == .gif)
        #expect(try await rendered(bytes, "resize:6x", as: .automatic([])).rendition.frames == 3)
    }

    @Test("An invalid animation is rendered as the still picture")
    func broken() async throws {
        var outside = Self.three
        outside[2].left = 9
        var strange = Self.three
        strange[1].disposal = 3
        let whole = try Self.file(Self.three)

        for bytes in [try Self.file(outside), try Self.file(strange), try Self.file([Self.three[0]])] {
            let result = try await rendered(bytes, "", as: .explicit(.webp)) { $0.isLossless = true }
            #expect(result.rendition.frames == 1 && result.picture[0, 0][0] == 255)
        }
        // Truncated anywhere before its end, it is an error, and never another result.
        for end in stride(from: 40, to: whole.count - 12, by: 3) {
            await #expect("up to \(end)") {
                try await rendered(Array(whole[..<end]), "", as: .explicit(.webp))
            } throws: {
                if case .badImageData? = $0 as? RenderError { true } else { false }
            }
        }
        let endless = try await rendered(Array(whole.dropLast(12)), "", as: .explicit(.webp))
        #expect(endless.rendition.frames == 3)
    }

    @Test("Its pixels and frames are counted before they are decoded")
    func limits() async throws {
        let bytes = try Self.file(Self.three)

        await #expect(throws: RenderError.tooManyFrames("")) {
            try await rendered(bytes) { $0.limits.frames = 2 }
        }
        await #expect(throws: RenderError.tooManyPixels("")) {
            try await rendered(bytes) { $0.limits.sourcePixels = 12 * 8 * 3 - 1 }
        }
    }

    @Test("EXIF in its own chunk has a PNG's orientation and ownership")
    func exif() async throws {
        let block = ExifBlock(Ownership(copyright: "Lovelace", artist: "Ada"))
        let still = try TestPicture.quarters(40, 20).encoded(as: .png)
        func with(_ exif: [UInt8]) -> [UInt8] {
            Array(still.prefix(33)) + Self.chunk("eXIf", exif) + still.dropFirst(33)
        }

        let upright = try await rendered(with(Self.orientation(6)))
        #expect(upright.picture.width == 20 && upright.picture.height == 40)
        #expect(upright.picture[1, 1] == TestPicture.blue, "what was bottom left is top left")
        let owned = try await rendered(with(block.bytes), "", as: .explicit(.jpeg))
        #expect(String(decoding: owned.bytes, as: UTF8.self).contains("Lovelace"))
    }

    @Test("An animation has an ownership, too, in EXIF and in text")
    func animationsOwner() async throws {
        let block = ExifBlock(Ownership(copyright: "Lovelace", artist: "Ada"))
        let text = Self.chunk("tEXt", Array("Copyright\0Babbage".utf8))
        for (extra, owner) in [(Self.chunk("eXIf", block.bytes), "Lovelace"), (text, "Babbage")] {
            let owned = try await rendered(Self.file(Self.three, extra: extra), "", as: .explicit(.webp))
            #expect(String(decoding: owned.bytes, as: UTF8.self).contains(owner))
        }
    }

    /// A structure with only an orientation.
    private static func orientation(_ value: UInt8) -> [UInt8] {
        Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, value, 0, 0, 0, 0, 0, 0]
    }

    @Test("Text that decompresses to more than a picture is refused before; ordinary text is not")
    func packedText() async throws {
        let still = try TestPicture.quarters(40, 20).encoded(as: .png)
        let ordinary = Self.chunk("tEXt", Array("Comment\0".utf8) + [UInt8](repeating: 65, count: 100_000))
        func with(_ chunk: [UInt8]) -> [UInt8] { Array(still.prefix(33)) + chunk + still.dropFirst(33) }

        #expect(try await rendered(with(ordinary)).picture.width == 40)
        let zeros = Self.packedZeros(megabytes: 2)
        #expect(try await rendered(with(Self.chunk("zTXt", Array("k\0\0".utf8) + zeros))).picture.width == 40)
        let bomb = Self.packedZeros(megabytes: 32)
        for chunk in [
            Self.chunk("zTXt", Array("k\0\0".utf8) + bomb), Self.chunk("iCCP", Array("k\0\0".utf8) + bomb),
            Self.chunk("iTXt", Array("k\0".utf8) + [1, 0, 0, 0] + bomb),
        ] {
            await #expect {
                try await rendered(with(chunk))
            } throws: { error in
                if case .badImageData? = error as? RenderError { true } else { false }
            }
        }
    }

    /// A zlib stream of this number of zeros, in one block of fixed codes (RFC 1951 §3.2.6): a zero, then
    /// matches of 258 each.
    private static func packedZeros(megabytes: Int) -> [UInt8] {
        var bits = BitWriter()
        bits.put(0b1, 1)
        bits.put(0b01, 2)
        bits.putReversed(0x30, 8)
        for _ in 0..<(megabytes << 20) / 258 {
            // Length 258 is code 285, distance 1 is code 0.
            bits.putReversed(0b1100_0101, 8)
            bits.putReversed(0, 5)
        }
        bits.putReversed(0, 7)
        return [0x78, 0x9C] + bits.bytes + [0, 0, 0, 0]
    }
}

/// Bits from the lowest of each byte upwards.
private struct BitWriter {
    private var done: [UInt8] = []
    private var rest = 0
    private var count = 0

    var bytes: [UInt8] { count == 0 ? done : done + [UInt8(rest)] }

    mutating func put(_ value: Int, _ width: Int) {
        rest |= value << count
        count += width
        while count >= 8 {
            done.append(UInt8(rest & 255))
            rest >>= 8
            count -= 8
        }
    }

    /// Huffman codes begin with their highest bit.
    mutating func putReversed(_ value: Int, _ width: Int) {
        for bit in (0..<width).reversed() { put(value >> bit & 1, 1) }
    }
}
