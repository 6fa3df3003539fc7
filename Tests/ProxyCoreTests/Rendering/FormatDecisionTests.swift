// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@testable import ImageTestSupport
@testable import Imaging
@testable import Rendering

@Suite("Which format is written")
struct FormatDecisionTests {
    struct Case: Sendable {
        let choice: RenderPlan.FormatChoice
        let source: ImageFormat
        var alpha = false
        var animated = false
        var lossless = false
        var pixels = 100
        let wanted: ImageFormat
    }

    @Test(
        "The client's formats first, then the source's, then JPEG, or PNG with alpha",
        arguments: [
            Case(choice: .automatic([.avif, .webp]), source: .jpeg, wanted: .avif),
            Case(choice: .automatic([.webp, .avif]), source: .jpeg, wanted: .webp),
            Case(choice: .automatic([.avif, .webp]), source: .jpeg, pixels: 2_000, wanted: .webp),
            Case(choice: .automatic([.avif]), source: .jpeg, pixels: 2_000, wanted: .jpeg),
            Case(choice: .automatic([]), source: .png, wanted: .png),
            Case(choice: .automatic([]), source: .avif, wanted: .avif),
            Case(choice: .automatic([]), source: .heic, wanted: .jpeg),
            Case(choice: .automatic([]), source: .heic, alpha: true, wanted: .png),
            Case(choice: .automatic([]), source: .jpeg, alpha: true, wanted: .png),
            Case(choice: .automatic([.jpeg]), source: .png, alpha: true, wanted: .png),
            Case(choice: .automatic([.avif, .webp]), source: .gif, animated: true, wanted: .webp),
            Case(choice: .automatic([.avif]), source: .gif, animated: true, wanted: .gif),
            Case(choice: .automatic([]), source: .webp, animated: true, wanted: .webp),
            Case(choice: .source, source: .jpeg, alpha: true, wanted: .jpeg),
            Case(choice: .source, source: .svg, alpha: true, wanted: .png),
            Case(choice: .source, source: .heic, wanted: .jpeg),
            Case(choice: .source, source: .jpeg, lossless: true, wanted: .png),
            Case(choice: .source, source: .webp, lossless: true, wanted: .webp),
            Case(choice: .source, source: .gif, animated: true, lossless: true, wanted: .webp),
            Case(choice: .automatic([]), source: .gif, animated: true, lossless: true, wanted: .webp),
            Case(choice: .automatic([.avif]), source: .gif, animated: true, lossless: true, wanted: .webp),
            Case(choice: .explicit(.tiff), source: .jpeg, wanted: .tiff),
            Case(choice: .automatic([.avif, .webp]), source: .jpeg, lossless: true, wanted: .webp),
            Case(choice: .automatic([.avif]), source: .jpeg, lossless: true, wanted: .png),
            Case(choice: .automatic([]), source: .avif, lossless: true, wanted: .png),
            Case(choice: .automatic([.webp]), source: .gif, animated: true, pixels: 17_000, wanted: .gif),
            Case(choice: .automatic([]), source: .webp, animated: true, pixels: 17_000, wanted: .gif),
        ])
    func decisions(_ example: Case) throws {
        var plan = RenderPlan(format: example.choice)
        plan.avifMaxPixels = 1_000
        plan.isLossless = example.lossless
        let decision = FormatDecision(
            plan: plan,
            header: ImageHeader(
                format: example.source, size: PixelSize(10, 10), frames: example.animated ? 3 : 1,
                hasAlpha: example.alpha, orientation: 1))

        let format = try decision.format(
            for: .init(
                size: PixelSize(example.pixels, 1), hasAlpha: example.alpha, isAnimated: example.animated))

        #expect(format == example.wanted)
    }

    @Test("JPEG XL is written only where the configuration names it")
    func jxl() throws {
        var plan = RenderPlan(format: .explicit(.jxl))
        let header = ImageHeader(
            format: .png, size: PixelSize(1, 1), frames: 1, hasAlpha: false, orientation: 1)
        let result = FormatDecision.Result(size: PixelSize(1, 1), hasAlpha: false, isAnimated: false)

        #expect(throws: RenderError.unsupportedFormat("jxl")) {
            try FormatDecision(plan: plan, header: header).format(for: result)
        }
        plan.decodableFormats.append(.jxl)
        #expect(try FormatDecision(plan: plan, header: header).format(for: result) == .jxl)
    }

    @Test(
        "Every writable format is written and read again",
        arguments: ImageFormat.allCases.filter { $0.traits.isWritable })
    func writable(format: ImageFormat) async throws {
        let source = try TestPicture.ramps(64, 48).encoded(as: .png)

        let result = try await rendered(source, as: .explicit(format)) { plan in
            plan.quality = 90
            plan.decodableFormats.append(.jxl)
        }

        #expect(result.rendition.format == format)
        let colors = TestPicture(64, 48) { x, y in Array(result.picture[x, y].prefix(3)) }
        #expect(try #require(colors.meanDistance(to: .ramps(64, 48))) < 6)
    }

    @Test("A result longer than a format can be is refused in it, and chosen in another one")
    func tooLong() async throws {
        let strip = try TestPicture.ramps(20, 2).encoded(as: .png)
        let stretch = "resize:16400x2:fill:enlarge=1"

        await #expect(throws: RenderError.resultTooLarge("")) {
            try await rendered(strip, stretch, as: .explicit(.webp))
        }
        let chosen = try await rendered(strip, stretch, as: .automatic([.webp]))
        #expect(chosen.rendition.format == .png)
        #expect(chosen.picture.width == 16_400)
    }

    @Test("Lossless is lossless, and quality changes the size", arguments: [ImageFormat.webp, .avif])
    func quality(format: ImageFormat) async throws {
        let noise = TestPicture(64, 64) { x, y in
            [UInt8(x * 4), UInt8((x * y) % 256), UInt8((x ^ y) * 3 % 256)]
        }
        let source = try noise.encoded(as: .png)

        let low = try await rendered(source, as: .explicit(format)) { $0.quality = 10 }
        let high = try await rendered(source, as: .explicit(format)) { $0.quality = 90 }
        let whole = try await rendered(source, as: .explicit(format)) { $0.isLossless = true }

        #expect(low.bytes.count < high.bytes.count)
        let distance = try #require(whole.picture.distance(to: noise))
        #expect(distance <= (format == .webp ? 0 : 3))
    }

    @Test("A lower quality of JPEG XL takes no more bytes, down to the lowest")
    func lowQuality() async throws {
        let source = try TestPicture.ramps(200, 150).encoded(as: .png)
        var counts: [Int] = []
        for quality in [1, 4, 5, 30, 77] {
            let result = try await rendered(source, as: .explicit(.jxl)) { plan in
                plan.quality = quality
                plan.decodableFormats.append(.jxl)
            }
            counts.append(result.bytes.count)
        }

        #expect(counts == counts.sorted(), "\(counts)")
    }
}
