// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ImageTestSupport
@testable import ProxyCore

@Suite("One palette for all frames")
struct SharedPaletteTests {
    /// Frames one below the other, in memory.
    private func roll(_ frames: [TestPicture]) throws -> VipsImage {
        var strip = FrameStrip()
        for frame in frames { strip.append(try frame.image()) }
        let timing = AnimationTiming(delays: frames.map { _ in 50 }, loop: 0)
        return try strip.joined(timing: timing).computed()
    }

    /// Shades of two colours that differ from frame to frame.
    private func scene(_ number: Int) -> TestPicture {
        TestPicture(90, 60) { x, y in
            let (one, two) = (UInt8(x * 2 + number * 20), UInt8(y * 4))
            return number == 0 ? [one, two, 0] : number == 1 ? [255 - one, 40, 255 - two] : [0, one, two]
        }
    }

    @Test("Similar frames share one, without a visible change")
    func shared() async throws {
        let frames = (0..<4).map { shift in
            TestPicture(96, 61, bands: 4) { x, y in
                let light = x + y + shift * 9
                return [UInt8(light), UInt8(light * 3 / 4), UInt8(light / 2), 255]
            }
        }
        let palette = try SharedPalette(of: roll(frames).withoutFullAlpha())
        let source = try TestPicture.animation(frames, delays: [50, 60, 70, 80], loop: 2, as: .webp)

        let found = try await rendered(source, as: .explicit(.gif))

        #expect((2...256).contains(palette?.colors.count ?? 0))
        #expect(found.rendition.frames == 4)
        for (index, frame) in frames.enumerated() {
            let part = TestPicture(96, 61, bands: 4) { x, y in
                Array(found.picture[x, index * 61 + y].prefix(3)) + [255]
            }
            #expect(try #require(part.meanDistance(to: frame)) < 3, "frame \(index)")
        }
        let read = try VipsCoder.open(openedSource(found.bytes), as: .gif, frames: .all, shrink: .none)
        #expect(read.timing == AnimationTiming(delays: [50, 60, 70, 80], loop: 2))
    }

    @Test("Of many pixels a part of every frame is sampled")
    func part() throws {
        let plain = TestPicture.plain(1_000, 720, [9, 99, 199])
        let ramp = TestPicture(1_000, 720) { x, y in [UInt8(x / 4), UInt8(y / 3), UInt8((x + y) % 256)] }

        let alike = try SharedPalette(of: roll([plain, plain, plain]))
        let different = try SharedPalette(of: roll([plain, plain, ramp]))

        #expect(alike?.colors.isEmpty == false && different == nil)
    }

    @Test("Frames with many own colours do not share one, nor do stills and transparent pictures")
    func own() throws {
        let many = try roll((0..<3).map(scene))
        let still = try roll([scene(0)])
        let clear = try roll(
            (0..<2).map { _ in TestPicture(20, 20, bands: 4) { x, y in [1, 2, 3, UInt8(x * y % 256)] } })

        let palettes = try [SharedPalette(of: many), SharedPalette(of: still), SharedPalette(of: clear)]
        #expect(palettes.allSatisfy { $0 == nil })
    }
}
