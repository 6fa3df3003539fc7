// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ImageTestSupport
@testable import Imaging

@Suite("Animated GIF, composed as browsers do")
struct AnimatedGIFTests {
    /// A frame of one colour.
    private struct Frame {
        var left = 0
        var top = 0
        var width = 8
        var height = 4
        var color: UInt8 = 1
        var disposal: UInt8 = 0
        var isTransparent = false
        /// The colour of each row, in place of one colour.
        var rows: [UInt8] = []
        var isInterlaced = false

        /// The colours of the pixels in their encoded order (GIF89a appendix E).
        var packed: [UInt8] {
            let colors = rows.isEmpty ? [UInt8](repeating: color, count: height) : rows
            let order = [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { stride(from: $0, to: height, by: $1) }
            return (isInterlaced ? order : Array(0..<height)).flatMap { row in
                [UInt8](repeating: colors[row], count: width)
            }
        }
    }

    /// White, red, green and blue; the first is the background colour.
    private static let palette: [UInt8] = [255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255]

    private static func short(_ value: Int) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8)] }

    /// A canvas of 8 × 4 with the frames.
    private static func file(_ frames: [Frame], loop: Int = 2) -> [UInt8] {
        var bytes = Array("GIF89a".utf8) + short(8) + short(4) + [0x81, 0, 0] + palette
        bytes += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1] + short(loop) + [0]
        for frame in frames {
            bytes +=
                [0x21, 0xF9, 4, frame.disposal << 2 | (frame.isTransparent ? 1 : 0)] + short(7) + [3, 0]
            bytes +=
                [0x2C] + short(frame.left) + short(frame.top) + short(frame.width) + short(frame.height)
                + [frame.isInterlaced ? 0x40 : 0]
            bytes += pixels(frame.packed)
        }
        return bytes + [0x3B]
    }

    /// Codes of three bits, with a clear code before every pixel, so that they stay that short.
    private static func pixels(_ colors: [UInt8]) -> [UInt8] {
        let codes = colors.flatMap { [4, Int($0)] } + [5]
        var packed = [UInt8](repeating: 0, count: (codes.count * 3 + 7) / 8)
        for (index, code) in codes.enumerated() {
            for bit in 0..<3 where code >> bit & 1 == 1 {
                packed[(index * 3 + bit) / 8] |= UInt8(1 << ((index * 3 + bit) % 8))
            }
        }
        return [2, UInt8(packed.count)] + packed + [0]
    }

    private func shown(_ frames: [Frame], _ transform: String = "") async throws -> TestPicture {
        try await rendered(Self.file(frames), transform, as: .explicit(.webp)) { $0.isLossless = true }
            .picture
    }

    @Test("A cleared frame leaves transparency, also if no frame declares it")
    func cleared() async throws {
        let frames = [
            Frame(color: 1), Frame(left: 2, top: 1, width: 3, height: 2, color: 2, disposal: 2),
            Frame(width: 1, height: 1, color: 3),
        ]

        let found = try await shown(frames)

        #expect(found[0, 0] == [255, 0, 0, 255] && found[2, 5] == [0, 255, 0, 255])
        #expect(found[2, 9][3] == 0 && found[4, 10][3] == 0, "cleared")
        #expect(found[5, 10] == [255, 0, 0, 255] && found[0, 8] == [0, 0, 255, 255])
    }

    @Test("An area without a frame is transparent", arguments: [1, 2])
    func small(count: Int) async throws {
        let first = Frame(left: 2, top: 1, width: 3, height: 2, color: 2)
        let frames = [first, Frame(width: 1, height: 1, color: 3)].prefix(count)

        let found = try await shown(Array(frames))

        #expect(found.bands == 4 && found[0, 0][3] == 0)
        #expect(found[2, 1] == [0, 255, 0, 255])
        #expect(count == 1 || found[0, 4] == [0, 0, 255, 255] && found[7, 7][3] == 0)
    }

    @Test("A first frame that is restored leaves transparency")
    func restored() async throws {
        let found = try await shown([Frame(disposal: 3), Frame(width: 2, height: 2, color: 2)])

        #expect(found[7, 3] == [255, 0, 0, 255])
        #expect(found[0, 4] == [0, 255, 0, 255] && found[7, 7][3] == 0)
    }

    @Test("Delays and plays are kept, alpha is declared, one frame can be requested")
    func facts() async throws {
        let bytes = Self.file([Frame(disposal: 2), Frame(width: 2, height: 2, color: 2)])
        let source = try openedSource(bytes)

        let header = try VipsCoder.header(of: source, as: .gif)
        let timing = try GIF.timing(of: source)
        let written = try await rendered(bytes, "flip:h", as: .explicit(.gif))
        let second = try await rendered(bytes) { $0.frame = 1 }.picture

        #expect(header.hasAlpha && header.frames == 2 && header.size == PixelSize(8, 4))
        #expect(timing.delays == [70, 70])
        let again = try GIF.timing(of: openedSource(written.bytes))
        #expect(again.delays == [70, 70] && again.loop == timing.loop)
        #expect(second[0, 0] == [0, 255, 0, 255] && second[7, 3][3] == 0)
    }

    @Test("libvips composes files that it composes correctly, and truncated ones")
    func leftAlone() {
        let whole = Self.file([Frame(), Frame(left: 2, width: 3, disposal: 1)])
        let cleared = Self.file([Frame(), Frame(disposal: 2, isTransparent: true), Frame()])
        let wrong = Self.file([Frame(disposal: 2), Frame(width: 2)])

        for bytes in [whole, cleared] { #expect(bytes.withUnsafeBytes { GIFAnimation($0) } == nil) }
        #expect(wrong.withUnsafeBytes { GIFAnimation($0) } != nil)
        for length in 0..<wrong.count - 1 {
            let part = Array(wrong.prefix(length))
            // libvips decodes a truncated file.
            let found = part.withUnsafeBytes { GIFAnimation($0) }
            #expect(found == nil, "\(length)")
        }
    }

    @Test("Only the part of a frame within the screen is shown and cleared")
    func outside() async throws {
        let frames = [
            Frame(color: 1), Frame(left: 6, top: 1, width: 4, height: 2, color: 2, disposal: 2),
            Frame(left: 9, top: 9, width: 2, height: 2, color: 2), Frame(width: 1, height: 1, color: 3),
        ]

        let found = try await shown(frames)

        #expect(found.width == 8 && found.height == 16)
        #expect(found[5, 5] == [255, 0, 0, 255] && found[6, 5] == [0, 255, 0, 255])
        for top in [8, 12] {
            #expect(found[7, top + 2][3] == 0 && found[5, top + 2] == [255, 0, 0, 255], "cleared")
        }
        #expect(found[0, 12] == [0, 0, 255, 255])
    }

    @Test("An interlaced frame that exceeds the screen shows its first rows in their order")
    func interlaced() async throws {
        let rows: [UInt8] = [1, 2, 3, 1, 2, 3]
        let frames = [
            Frame(color: 0), Frame(width: 4, height: 6, rows: rows, isInterlaced: true),
            Frame(left: 4, width: 6, height: 6, rows: rows, isInterlaced: true),
        ]

        let found = try await shown(frames)

        for (row, color) in rows.prefix(4).enumerated() {
            let wanted = Array(Self.palette[Int(color) * 3..<Int(color) * 3 + 3])
            #expect(
                Array(found[1, 4 + row].prefix(3)) == wanted && Array(found[7, 8 + row].prefix(3)) == wanted)
            #expect(Array(found[7, 4 + row].prefix(3)) == [255, 255, 255])
        }
    }

    @Test(
        "A first frame that exceeds the screen enlarges it, as in browsers; a much larger later one does not"
    )
    func larger() async throws {
        let frames = [Frame(width: 10, height: 5, disposal: 2), Frame(width: 2, color: 2)]
        let vast = [Frame(disposal: 2), Frame(width: 60_000, height: 60_000)].map { frame in
            var small = frame
            small.width = min(frame.width, 8)
            small.height = min(frame.height, 4)
            return small
        }
        var lying = Self.file(vast)
        let last = try #require(lying.lastIndex(of: 0x2C))
        lying.replaceSubrange(last + 5..<last + 9, with: [0x60, 0xEA, 0x60, 0xEA])

        let found = try await shown(frames)

        #expect(found.width == 10 && found.height == 10)
        #expect(found[9, 4] == [255, 0, 0, 255] && found[0, 5] == [0, 255, 0, 255] && found[9, 9][3] == 0)
        #expect(lying.withUnsafeBytes { GIFAnimation($0) } == nil)
    }

    @Test("Invalid bytes after the last frame do not change the frames")
    func junk() async throws {
        let frames = [Frame(disposal: 2), Frame(width: 2, height: 2, color: 2)]
        let whole = Self.file(frames)

        for junk in [[0x55], [0x55, 0x2C, 0x21], [UInt8](repeating: 0xEE, count: 300)] as [[UInt8]] {
            let found = try await rendered(whole.dropLast() + junk, as: .explicit(.webp)) {
                $0.isLossless = true
            }.picture

            #expect(found.height == 8 && found[0, 0] == [255, 0, 0, 255])
            #expect(found[0, 4] == [0, 255, 0, 255] && found[7, 7][3] == 0)
        }
    }

    @Test("A file that ends within a block is damaged; one without its trailer is not (GIF89a §27)")
    func cut() async throws {
        let frames = (1...3).map { Frame(color: $0) }
        let whole = Self.file(frames)
        let firstFrames = Self.file(Array(frames.prefix(1))).count - 1
        let second = Self.file(Array(frames.prefix(2))).count - 1

        for length in firstFrames + 1..<whole.count - 1 where length != second {
            await #expect(throws: RenderError.badImageData("a GIF that breaks off"), "\(length)") {
                try await rendered(Array(whole.prefix(length)), as: .explicit(.webp))
            }
        }
        let noTrailer = Array(whole.dropLast())
        for bytes in [whole, noTrailer, whole + [0, 0], noTrailer + [0]] {
            let found = try await rendered(bytes, as: .explicit(.webp))
            #expect(found.rendition.frames == 3)
        }
    }

    @Test("A large screen that is almost empty is damaged")
    func empty() async throws {
        func file(_ side: Int, _ frame: Int) -> [UInt8] {
            var bytes = Self.file([Frame(width: frame, height: frame)])
            bytes.replaceSubrange(6..<10, with: Self.short(side) + Self.short(side))
            return bytes
        }

        for (side, frame, isLetIn) in [(2_000, 1, true), (2_001, 1, false), (7_000, 1, false)] {
            let source = try openedSource(file(side, frame))
            let header = try? VipsCoder.header(of: source, as: .gif)
            #expect((header?.size == PixelSize(side, side)) == isLetIn, "\(side)")
        }
    }
}
