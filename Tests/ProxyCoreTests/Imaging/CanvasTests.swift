// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@testable import ImageTestSupport
@testable import Imaging

@Suite("Operations on the canvas")
struct CanvasTests {
    private static let red: [UInt8] = [255, 0, 0]

    /// A red rectangle on another colour.
    private static func framed(_ border: [UInt8], left: Int = 7, top: Int = 5) -> TestPicture {
        TestPicture(40, 30, bands: border.count) { x, y in
            let isInside = (left..<30).contains(x) && (top..<22).contains(y)
            return isInside ? Array((red + [255]).prefix(border.count)) : border
        }
    }

    @Test(
        "trim cuts the border that equals the corner",
        arguments: [[255, 255, 255], [8, 60, 90], [0, 0, 0, 0], [9, 200, 9, 0], [40]] as [[UInt8]])
    func trim(border: [UInt8]) async throws {
        let picture = Self.framed(border)

        let found = try await rendered(picture.encoded(as: .png), "trim").picture

        #expect(found.width == 23 && found.height == 17)
        #expect(found[0, 0][0] == 255 && found[22, 16][0] == 255)
    }

    @Test("trim's threshold is the maximum difference of a level from the colour")
    func trimThreshold() async throws {
        let picture = TestPicture(20, 20) { x, y in
            (5..<15).contains(x) && (5..<15).contains(y) ? [120, 100, 100] : [100, 100, 100]
        }
        let bytes = try picture.encoded(as: .png)

        #expect(try await rendered(bytes, "trim:19").picture.width == 10)
        await #expect(throws: RenderError.emptyResult("")) { try await rendered(bytes, "trim:20") }
        #expect(try await rendered(bytes, "trim:10:000").picture.width == 20)
        #expect(try await rendered(bytes, "trim:10:color=646464").picture.width == 10)
    }

    @Test("trim cuts the common border of an animation's frames")
    func trimAnimation() async throws {
        let frames = [(7, 5), (3, 9)].map { Self.framed([255, 255, 255], left: $0.0, top: $0.1) }
        let bytes = try TestPicture.animation(frames, delays: [100, 100], loop: 0, as: .webp)

        let found = try await rendered(bytes, "trim", as: .explicit(.webp)) { $0.isLossless = true }

        #expect(found.rendition.width == 27 && found.rendition.height == 17)
    }

    @Test("crop is moved from the middle, and may begin at 0 on a side where it would be outside")
    func crop() async throws {
        let bytes = try TestPicture.quarters(20, 20).encoded(as: .png)

        let moved = try await rendered(bytes, "crop:4x4:center:x=5:y=-6").picture
        let inside = try await rendered(bytes, "crop:4x4:x=20:y=14:lenient=sides").picture

        #expect(moved.width == 4 && moved.height == 4 && moved[0, 0] == [0, 255, 0])
        #expect(inside.width == 4 && inside.height == 4 && inside[0, 0] == [0, 0, 255])
    }

    @Test("pad adds borders on each side, in the order of CSS")
    func pad() async throws {
        let bytes = try TestPicture.quarters(20, 10).encoded(as: .png)

        let clear = try await rendered(bytes, "pad:1:2:3:4:transparent").picture
        let blue = try await rendered(bytes, "pad:left=50pc:top=10pc:color=00f").picture

        #expect(clear.width == 26 && clear.height == 14 && clear.bands == 4)
        #expect(clear[0, 0][3] == 0 && clear[4, 1] == Self.red + [255] && clear[3, 1][3] == 0)
        #expect(clear[23, 10] == [255, 255, 255, 255] && clear[24, 10][3] == 0 && clear[23, 11][3] == 0)
        #expect(blue.width == 30 && blue.height == 11 && blue.bands == 3)
        #expect(blue[0, 0] == [0, 0, 255] && blue[10, 1] == Self.red)
    }

    @Test("A transparent border is white in a format without transparency")
    func whitePad() async throws {
        let bytes = try TestPicture.plain(16, 16, [0, 0, 0]).encoded(as: .png)

        let found = try await rendered(bytes, "pad:16:16:16:16:transparent", as: .explicit(.jpeg)).picture

        #expect(
            found.bands == 3 && found[2, 2].allSatisfy { $0 > 250 } && found[24, 24].allSatisfy { $0 < 5 })
    }

    @Test(
        "without a colour pad and extend stay opaque with an opaque picture, and transparent with another",
        arguments: ["pad:4:4:4:4", "extend:24x24"])
    func absentColor(text: String) async throws {
        let opaque = try TestPicture.plain(16, 16, [9, 9, 200]).encoded(as: .png)
        let clear = try TestPicture.plain(16, 16, [9, 9, 200, 255]).encoded(as: .png)
        let grey = try TestPicture.plain(16, 16, [9]).encoded(as: .png)

        let padded = try await rendered(opaque, text).picture
        let through = try await rendered(clear, text).picture
        let pale = try await rendered(grey, text).picture
        let automatic = try await rendered(
            TestPicture.ramps(64, 64).encoded(as: .jpeg), text.replacing("24x24", with: "80x80"),
            as: .automatic([]))

        #expect(padded.bands == 3 && padded[0, 0] == [255, 255, 255] && padded[4, 4] == [9, 9, 200])
        #expect(through.bands == 4 && through[0, 0][3] == 0 && through[4, 4] == [9, 9, 200, 255])
        #expect(pale[0, 0].allSatisfy { $0 == 255 })
        // A client that takes neither WebP nor AVIF: a photo with a border is no PNG.
        #expect(automatic.rendition.format == .jpeg)
    }

    @Test("extend places the picture by gravity and cuts what does not fit")
    func extend() async throws {
        let bytes = try TestPicture.quarters(20, 20).encoded(as: .png)

        let middle = try await rendered(bytes, "extend:40x30:color=transparent").picture
        let corner = try await rendered(bytes, "extend:40x30:southeast:color=0f0").picture
        let narrow = try await rendered(bytes, "extend:10x40:west:transparent").picture

        #expect(middle.width == 40 && middle.height == 30)
        #expect(middle[10, 5] == Self.red + [255] && middle[9, 5][3] == 0 && middle[10, 4][3] == 0)
        #expect(corner.bands == 3 && corner[20, 10] == Self.red && corner[19, 10] == [0, 255, 0])
        #expect(narrow.width == 10 && narrow.height == 40)
        #expect(narrow[0, 10] == Self.red + [255] && narrow[9, 9][3] == 0)
    }

    @Test("extend repeats the edge, mirrors, or shows the blurred picture")
    func extendFill() async throws {
        let picture = TestPicture(20, 10) { x, _ in [UInt8(x * 12), 0, 0] }
        let bytes = try picture.encoded(as: .png)

        let edge = try await rendered(bytes, "extend:40x10:fill=edge").picture
        let mirror = try await rendered(bytes, "extend:40x10:fill=mirror").picture
        let blur = try await rendered(bytes, "extend:40x30:fill=blur").picture

        #expect(edge[0, 5] == picture[0, 0] && edge[39, 5] == picture[19, 0])
        #expect(
            mirror[9, 5] == picture[0, 0] && mirror[0, 5] == picture[9, 0] && mirror[30, 5] == picture[19, 0])
        #expect(blur.bands == 3 && blur[10, 10] == picture[0, 0] && blur[29, 19] == picture[19, 0])
        #expect(blur[0, 0][0] < blur[39, 0][0])
        #expect(throws: TransformError.self) {
            try TransformPipeline(parsing: "extend:4x4:fill=blur:color=fff")
        }
    }

    @Test("extend squeezes the blurred picture onto the canvas, and what is transparent stays so")
    func extendSqueezed() async throws {
        let picture = TestPicture(40, 20, bands: 4) { x, _ in x < 20 ? [200, 30, 30, 255] : [0, 0, 0, 0] }

        let found = try await rendered(picture.encoded(as: .png), "extend:40x60:fill=squeeze").picture

        #expect(found[35, 30][3] == 0 && found[5, 30] == [200, 30, 30, 255])
        #expect((30..<225).contains(found[5, 5][3]) && found[5, 5][3] > found[35, 5][3])
    }

    @Test("extend's canvas may be bounded by the picture as it was before all operations")
    func extendBounded() async throws {
        let bytes = try TestPicture.quarters(60, 40).encoded(as: .png)

        let wide = try await rendered(bytes, "resize:80x30,extend:80x30:bound=source").rendition
        let tall = try await rendered(bytes, "crop:10x10,extend:50x90:bound=source").rendition
        let free = try await rendered(bytes, "resize:80x30,extend:80x30").rendition

        #expect(wide.width == 60 && wide.height == 30)
        #expect(tall.width == 50 && tall.height == 40)
        #expect(free.width == 80)
    }

    @Test("round draws a colour outside of the corners, and keeps what is transparent")
    func roundOutside() async throws {
        let opaque = try await rendered(
            TestPicture.plain(40, 40, Self.red).encoded(as: .png), "round:10:outside=0f0")
        let clear = TestPicture(40, 40, bands: 4) { x, _ in x < 20 ? [200, 30, 30, 255] : [0, 0, 0, 0] }
        let found = try await rendered(clear.encoded(as: .png), "round:10:outside=0f0").picture

        #expect(opaque.picture.bands == 3)
        #expect(opaque.picture[0, 0] == [0, 255, 0] && opaque.picture[20, 20] == Self.red)
        #expect(found[0, 0] == [0, 255, 0, 255] && found[39, 0][3] == 0 && found[39, 20][3] == 0)
        #expect(found[10, 20] == [200, 30, 30, 255])
        #expect(throws: TransformError.self) {
            try TransformPipeline(parsing: "round:4:border=2:outside=0f0")
        }
    }

    @Test("extend shows a blurred picture with alpha behind itself")
    func extendBlurredAlpha() async throws {
        let picture = TestPicture(20, 20, bands: 4) { x, _ in x < 10 ? [200, 30, 30, 255] : [0, 0, 0, 0] }

        let found = try await rendered(picture.encoded(as: .png), "extend:40x20:fill=blur").picture

        #expect(zip(found[12, 10], [200, 30, 30, 255]).allSatisfy { abs(Int($0) - $1) <= 2 })
    }

    @Test("mask keeps the shape's area")
    func mask() async throws {
        let bytes = try TestPicture.plain(200, 100, Self.red).encoded(as: .png)
        let shapes = [
            ("circle", Double.pi * 50 * 50), ("ellipse", Double.pi * 100 * 50),
            // Γ(1 + 1/4)² / Γ(1 + 1/2) of the square.
            ("squircle", 0.9270373386 * 100 * 100),
        ]
        for (name, area) in shapes {
            let found = try await rendered(bytes, "mask:\(name)").picture

            let sum = stride(from: 3, to: found.samples.count, by: 4).reduce(0) {
                $0 + Int(found.samples[$1])
            }
            #expect(abs(Double(sum) / 255 - area) < area * 0.004, "\(name)")
            #expect(found[100, 50] == Self.red + [255] && found[0, 0][3] == 0)
        }
    }

    @Test("rotate without fit has the size of its result")
    func rotateLimit() async throws {
        let bytes = try TestPicture.plain(100, 100, Self.red).encoded(as: .png)

        let found = try await rendered(bytes, "rotate:45:0") { $0.limits.outputPixels = 10_000 }.picture

        #expect(found.width == 100 && found.height == 100 && found[50, 50] == Self.red + [255])
        await #expect(throws: RenderError.resultTooLarge("")) {
            try await rendered(bytes, "rotate:45") { $0.limits.outputPixels = 10_000 }
        }
        await #expect(throws: RenderError.resultTooLarge("")) {
            try await rendered(bytes, "pad:1") { $0.limits.outputPixels = 10_000 }
        }
        await #expect(throws: RenderError.resultTooLarge("")) {
            try await rendered(bytes, "extend:101x100") { $0.limits.outputPixels = 10_000 }
        }
    }
}
