// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@testable import ImageTestSupport
@testable import Imaging

@Suite("Animations")
struct AnimationTests {
    private static let colors: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255]]
    private static let delays = [100, 200, 300]

    private static func source(_ format: ImageFormat, loop: Int = 2) throws -> [UInt8] {
        // A black corner, so that rotation and mirroring are visible.
        let frames = colors.map { color in
            TestPicture(40, 20) { x, y in x < 10 && y < 5 ? [0, 0, 0] : color }
        }
        return try TestPicture.animation(frames, delays: delays, loop: loop, as: format)
    }

    private static func timing(of bytes: [UInt8]) throws -> AnimationTiming {
        let source = try openedSource(bytes)
        let format = try #require(ImageFormat(sniffing: bytes))
        return try VipsCoder.open(source, as: format, frames: .all, shrink: .none).timing
    }

    @Test(
        "Every operation works on every frame and keeps delays and loop count",
        arguments: [
            "", "resize:20x", "resize:10x10:cover:smart", "crop:30x10:southeast", "rotate:90", "rotate:30",
            "flip:h",
            "round:5", "round:5:border=2", "tint:fff:multiply", "blur:1", "grayscale:0", "orient:6", "trim",
            "pad:2:2:2:2", "extend:60x30", "extend:60x30:fill=blur", "extend:60x30:fill=edge", "mask:ellipse",
            "sharpen", "pixelate:10", "brightness:1", "contrast:1", "saturation:1", "gamma:1", "exposure:0",
            "hue:0", "invert:0", "sepia:0", "opacity:1", "background:fff", "reverse,reverse", "speed:1",
        ])
    func everyOperation(text: String) async throws {
        for (format, loop) in [(ImageFormat.gif, 2), (.webp, 3)] {
            let source = try Self.source(format, loop: loop)

            let result = try await rendered(source, text, as: .explicit(.webp)) { $0.isLossless = true }

            #expect(result.rendition.frames == 3)
            #expect(result.picture.height == 3 * result.rendition.height)
            #expect(try Self.timing(of: result.bytes) == AnimationTiming(delays: Self.delays, loop: loop))
            for (index, color) in Self.colors.enumerated() {
                let middle = result.rendition.height / 2 + index * result.rendition.height
                let found = result.picture[result.rendition.width / 2, middle].prefix(3)
                #expect(
                    zip(found, color).allSatisfy { abs(Int($0) - Int($1)) <= 8 }, "frame \(index) of \(text)")
            }
        }
    }

    @Test("speed, loop and reverse change the timing and the order", arguments: [ImageFormat.gif, .webp])
    func playback(format: ImageFormat) async throws {
        let text = "reverse,speed:2,loop:5"

        let found = try await rendered(Self.source(format), text, as: .explicit(format)) {
            $0.isLossless = true
        }

        #expect(try Self.timing(of: found.bytes) == AnimationTiming(delays: [150, 100, 50], loop: 5))
        for (index, color) in Self.colors.reversed().enumerated() {
            let pixel = found.picture[30, index * 20 + 15].prefix(3)
            #expect(zip(pixel, color).allSatisfy { abs(Int($0) - Int($1)) <= 8 }, "frame \(index)")
        }
    }

    @Test("Some frames are taken with their delays, from a frame on", arguments: [ImageFormat.gif, .webp])
    func someFrames(format: ImageFormat) async throws {
        let source = try Self.source(format)
        for (first, count) in [(nil, 2), (1, 2), (0, 3), (2, 1)] as [(Int?, Int)] {
            let found = try await rendered(source, "resize:20x", as: .explicit(format)) {
                ($0.frame, $0.frameCount, $0.isLossless) = (first, count, format == .webp)
            }

            let range = (first ?? 0)..<(first ?? 0) + count
            #expect(found.rendition.frames == count)
            #expect(found.picture.height == 10 * count)
            if count > 1 { #expect(try Self.timing(of: found.bytes).delays == Array(Self.delays[range])) }
            for (index, color) in Self.colors[range].enumerated() {
                let pixel = found.picture[15, index * 10 + 8].prefix(3)
                #expect(zip(pixel, color).allSatisfy { abs(Int($0) - Int($1)) <= 8 }, "frame \(index)")
            }
        }
    }

    @Test("All frames from one on are taken", arguments: [ImageFormat.gif, .webp])
    func frameToLast(format: ImageFormat) async throws {
        let found = try await rendered(Self.source(format), "delay:70:others=90", as: .explicit(format)) {
            ($0.frame, $0.frameCount) = (1, .max)
        }

        #expect(found.rendition.frames == 2)
        #expect(try Self.timing(of: found.bytes).delays == [70, 90])
    }

    @Test("A strip has the frames below each other in a format without animations", arguments: [3, 2])
    func strip(count: Int) async throws {
        let found = try await rendered(Self.source(.gif), "resize:20x", as: .explicit(.png)) {
            ($0.frameCount, $0.animation) = (count, .strip)
        }

        #expect(found.rendition.frames == 1)
        #expect(found.rendition.height == 10 * count && found.picture.height == 10 * count)
        for (index, color) in Self.colors.prefix(count).enumerated() {
            let pixel = found.picture[15, index * 10 + 8].prefix(3)
            #expect(zip(pixel, color).allSatisfy { abs(Int($0) - Int($1)) <= 8 }, "frame \(index)")
        }
        let animation = try await rendered(Self.source(.gif), as: .explicit(.webp)) { $0.animation = .strip }
        #expect(animation.rendition.frames == 3)
    }

    @Test("More frames than there are is an error; a still and a format without frames have one")
    func tooManyFrames() async throws {
        let source = try Self.source(.webp)
        for (first, count) in [(nil, 4), (2, 2)] as [(Int?, Int)] {
            await #expect(throws: RenderError.frameOutOfRange("")) {
                try await rendered(source, as: .explicit(.webp)) {
                    ($0.frame, $0.frameCount) = (first, count)
                }
            }
        }

        let jpeg = try await rendered(source, as: .explicit(.jpeg)) { ($0.frame, $0.frameCount) = (1, 2) }
        let still = try await rendered(TestPicture.ramps(8, 8).encoded(as: .png)) { $0.frameCount = 4 }

        #expect(jpeg.rendition.frames == 1 && jpeg.picture[30, 15][1] > 200)
        #expect(still.rendition.frames == 1)
    }

    @Test("No delay becomes so short that browsers slow it down, and a still has no timing")
    func fastest() async throws {
        let found = try await rendered(Self.source(.webp), "speed:100", as: .explicit(.webp))
        let still = try await rendered(TestPicture.ramps(8, 8).encoded(as: .png), "speed:2,reverse,loop:3")

        #expect(try Self.timing(of: found.bytes).delays == [20, 20, 20])
        #expect(still.picture == .ramps(8, 8))
    }

    @Test("A border that no frame covers is transparent, not black", arguments: [ImageFormat.gif, .webp])
    func border(format: ImageFormat) async throws {
        let found = try await rendered(Self.source(format), "pad:2:2:2:2", as: .explicit(.webp))

        let header = try VipsCoder.header(of: openedSource(found.bytes), as: .webp)
        #expect(header.hasAlpha && found.picture.bands == 4)
        #expect(found.picture[0, 0][3] == 0 && found.picture[4, 4][3] == 255)
    }

    @Test("speed uses the delay that players use for one that is too short")
    func hurriedDelays() async throws {
        let frames = [0, 90, 180].map { level in TestPicture.plain(8, 8, [UInt8(level), 9, 9]) }
        let source = try TestPicture.animation(frames, delays: [0, 10, 40], loop: 0, as: .gif)

        let slow = try await rendered(source, "speed:0.5", as: .explicit(.webp))
        let fast = try await rendered(source, "speed:2", as: .explicit(.gif))

        #expect(try Self.timing(of: slow.bytes).delays == [200, 200, 80])
        #expect(try Self.timing(of: fast.bytes).delays == [50, 50, 20])
    }

    @Test("A GIF's frames resemble their sources, also soft ramps")
    func palettes() async throws {
        let frames = [0, 40, 80].map { shift in
            TestPicture(96, 64) { x, y in [UInt8(min(255, x * 2 + shift)), UInt8(y * 3), UInt8(200 - shift)] }
        }
        let source = try TestPicture.animation(frames, delays: [50, 50, 50], loop: 0, as: .webp)

        let found = try await rendered(source, as: .explicit(.gif))

        // Limited by a palette of 256 colours: with maximum effort the values are 0.930 and 2.2.
        let whole = TestPicture(96, 192) { x, y in frames[y / 64][x, y % 64] }
        let opaque = TestPicture(96, 192) { x, y in Array(found.picture[x, y].prefix(3)) }
        #expect(try #require(opaque.likeness(to: whole)) > 0.92)
        #expect(try #require(opaque.meanDistance(to: whole)) < 3)
    }

    @Test("GIF and WebP are converted to each other")
    func conversion() async throws {
        let toGIF = try await rendered(Self.source(.webp), as: .explicit(.gif))
        let toWebP = try await rendered(Self.source(.gif), as: .automatic([.avif, .webp]))

        #expect(toGIF.rendition.format == .gif && toGIF.rendition.frames == 3)
        #expect(try Self.timing(of: toGIF.bytes).delays == Self.delays)
        #expect(toWebP.rendition.format == .webp && toWebP.rendition.frames == 3)
    }

    @Test("The first frame is rendered on request, and for formats with only one")
    func firstFrame() async throws {
        let source = try Self.source(.gif)

        let first = try await rendered(source, as: .explicit(.webp)) { $0.animation = .first }
        let png = try await rendered(source, as: .explicit(.png))

        #expect(first.rendition.frames == 1 && first.picture.height == 20)
        #expect(png.rendition.frames == 1 && png.rendition.source.frames == 3)
        #expect(png.picture[30, 15].prefix(3) == [255, 0, 0])
    }

    @Test("frame selects the frame with that index; a missing one is an error")
    func oneFrame() async throws {
        let source = try Self.source(.gif)

        let second = try await rendered(source, "resize:20x") { $0.frame = 1 }

        #expect(second.rendition.frames == 1 && second.rendition.width == 20)
        #expect(second.picture[15, 8].prefix(3) == [0, 255, 0])
        await #expect(throws: RenderError.frameOutOfRange("")) {
            try await rendered(source) { $0.frame = 3 }
        }
    }

    @Test("Frames and their pixels are limited")
    func limits() async throws {
        let source = try Self.source(.gif)

        await #expect(throws: RenderError.tooManyFrames("")) {
            try await rendered(source) { $0.limits.frames = 2 }
        }
        await #expect(throws: RenderError.tooManyPixels("")) {
            try await rendered(source) { $0.limits.sourcePixels = 40 * 20 * 3 - 1 }
        }
        await #expect(throws: RenderError.resultTooLarge("")) {
            try await rendered(source, as: .explicit(.gif)) { $0.limits.outputPixels = 40 * 20 * 3 - 1 }
        }
    }
}
