// SPDX-License-Identifier: Apache-2.0

import CVips
import Glibc
import Primitives
import Testing

@testable import ImageTestSupport
@testable import Imaging

@Suite("The effect of operations on pixels")
struct TransformPixelTests {
    private typealias Picture = TestPicture

    /// Compares with a tolerance of a few levels.
    private func expect(
        _ found: [UInt8], is wanted: [UInt8], within tolerance: Int = 2,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let isNear =
            found.count == wanted.count
            && zip(found, wanted).allSatisfy { abs(Int($0) - Int($1)) <= tolerance }
        #expect(isNear, "\(found) is not \(wanted)", sourceLocation: sourceLocation)
    }

    @Test("resize does not move soft ramps")
    func resize() async throws {
        let source = try Picture.ramps(400, 300).encoded(as: .png)

        let small = try await rendered(source, "resize:100x")

        #expect(small.picture.width == 100 && small.picture.height == 75)
        #expect(try #require(small.picture.distance(to: .ramps(100, 75))) <= 4)
    }

    @Test("An enlarged picture is shifted by less than a fraction of a pixel", arguments: [1.04, 1.5, 2, 4])
    func enlarge(factor: Double) async throws {
        let source = TestPicture(100, 60) { x, y in [UInt8(x * 2), UInt8(y * 4), 7] }
        let size = (width: Int((100 * factor).rounded()), height: Int((60 * factor).rounded()))

        let large = try await rendered(
            source.encoded(as: .png), "resize:\(size.width)x\(size.height):fill:enlarge=1")

        for x in size.width / 8..<size.width * 7 / 8 {
            // The centre of a pixel, measured in pixels of the source.
            let there = (Double(x) + 0.5) * 100 / Double(size.width) - 0.5
            #expect(abs(Double(large.picture[x, size.height / 2][0]) - there * 2) <= 1)
        }
        for y in size.height / 8..<size.height * 7 / 8 {
            let there = (Double(y) + 0.5) * 60 / Double(size.height) - 0.5
            #expect(abs(Double(large.picture[size.width / 2, y][1]) - there * 4) <= 1)
        }
    }

    @Test("rotate by any angle keeps the centre in the centre", arguments: [1.0, 30, 45, 123, -20.5, 271])
    func rotateCentre(angle: Double) async throws {
        let source = TestPicture(121, 80) { x, y in [UInt8(x * 2), UInt8(y * 3), 0] }

        let turned = try await rendered(source.encoded(as: .png), "rotate:\(angle)").picture

        let (cosine, sine) = (cos(angle * .pi / 180), sin(angle * .pi / 180))
        for (x, y) in [(0, 0), (10, 4), (-7, 12), (20, -15), (-18, -9)] {
            let (column, row) = (turned.width / 2 + x, turned.height / 2 + y)
            let dx = Double(column) + 0.5 - Double(turned.width) / 2
            let dy = Double(row) + 0.5 - Double(turned.height) / 2
            let red = (dx * cosine + dy * sine + 60) * 2
            let green = (-dx * sine + dy * cosine + 39.5) * 3
            #expect(abs(Double(turned[column, row][0]) - red) <= 1.5)
            #expect(abs(Double(turned[column, row][1]) - green) <= 1.5)
        }
    }

    @Test("In linear light, black and white mix to the level of half the light, weighted by alpha")
    func linearLight() async throws {
        let stripes = TestPicture(64, 64) { x, _ in x.isMultiple(of: 2) ? [0, 0, 0] : [255, 255, 255] }
        let halves = TestPicture(64, 64, bands: 4) { x, _ in
            x.isMultiple(of: 2) ? [255, 40, 0, 255] : [0, 255, 255, 0]
        }
        let ramp = TestPicture(256, 16, bands: 1) { x, _ in [UInt8(x)] }

        for source in [try stripes.encoded(as: .png), try stripes.encoded(as: .jpeg)] {
            let light = try await rendered(source, "resize:16x16:fill") { $0.isLinear = true }
            expect(light.picture[8, 8], is: [188, 188, 188], within: 3)
        }
        let shown = try await rendered(halves.encoded(as: .png), "resize:16x16:fill") { $0.isLinear = true }
        expect(shown.picture[8, 8], is: [255, 40, 0, 128], within: 2)
        let same = try await rendered(ramp.encoded(as: .png), "resize:256x8:fill") { $0.isLinear = true }
        for level in 4..<252 { expect(same.picture[level, 4], is: [UInt8(level)], within: 1) }
    }

    @Test("A border around a transparent picture has its width")
    func borderRoundNothing() async throws {
        let clear = TestPicture.plain(60, 40, [10, 200, 30, 0])

        let round = try await rendered(clear.encoded(as: .png), "round:20:border=4:color=f00").picture

        let covered = (0..<40).reduce(0.0) { sum, y in
            sum + (0..<60).reduce(0.0) { $0 + Double(round[$1, y][3]) / 255 }
        }
        let area = 60.0 * 40 - (4 - Double.pi) * 400 - (52.0 * 32 - (4 - Double.pi) * 256)
        #expect(abs(covered - area) < 3)
    }

    @Test("A JPEG shrunk by its decoder resembles one that was not")
    func shrinkOnLoad() async throws {
        let picture = Picture.ramps(800, 600)

        let shrunk = try await rendered(picture.encoded(as: .jpeg), "resize:90x")
        let whole = try await rendered(picture.encoded(as: .png), "resize:90x")

        #expect(try #require(shrunk.picture.meanDistance(to: whole.picture)) < 2)
    }

    @Test("cover cuts the surplus by gravity")
    func cover() async throws {
        let source = try Picture.quarters(200, 100).encoded(as: .png)

        let west = try await rendered(source, "resize:50x50:cover:west")
        let east = try await rendered(source, "resize:50x50:cover:east")
        let focal = try await rendered(source, "resize:50x50:cover:focal:fx=1:fy=0")

        #expect(west.picture.width == 50 && west.picture.height == 50)
        expect(west.picture[10, 10], is: Picture.red)
        expect(west.picture[10, 40], is: Picture.blue)
        expect(east.picture[40, 10], is: Picture.green)
        expect(east.picture[40, 40], is: Picture.white)
        #expect(try #require(focal.picture.distance(to: east.picture)) == 0)
    }

    @Test("Smart gravity finds the only object in a picture", arguments: ["smart", "entropy"])
    func smart(gravity: String) async throws {
        let source = Picture(300, 100) { x, y in
            guard (230..<290).contains(x), (20..<80).contains(y) else { return [200, 200, 200] }
            return (x / 6 + y / 6).isMultiple(of: 2) ? [220, 60, 40] : [20, 30, 160]
        }

        let cut = try await rendered(source.encoded(as: .png), "resize:100x100:cover:\(gravity)")

        #expect(cut.picture.samples.count(where: { abs(Int($0) - 200) > 20 }) > 60 * 60 * 3 / 2)
    }

    @Test("fill stretches and enlarge enlarges")
    func fill() async throws {
        let source = try Picture.quarters(20, 20).encoded(as: .png)

        let stretched = try await rendered(source, "resize:80x40:fill:enlarge=1")

        #expect(stretched.picture.width == 80 && stretched.picture.height == 40)
        expect(stretched.picture[5, 5], is: Picture.red)
        expect(stretched.picture[75, 35], is: Picture.white)
    }

    @Test("crop cuts by corner and clamps to the image; an empty rectangle is an error")
    func crop() async throws {
        let source = try Picture.quarters(100, 100).encoded(as: .png)

        let clamped = try await rendered(source, "crop:60x60:x=80:y=-40")

        #expect(clamped.picture.width == 20 && clamped.picture.height == 20)
        expect(clamped.picture[10, 10], is: Picture.green)
        await #expect(throws: RenderError.emptyResult("")) {
            try await rendered(source, "crop:60x60:x=100")
        }
    }

    @Test("flip mirrors")
    func flip() async throws {
        let source = try Picture.quarters(10, 10).encoded(as: .png)

        expect(try await rendered(source, "flip:h").picture[0, 0], is: Picture.green)
        expect(try await rendered(source, "flip:v").picture[0, 0], is: Picture.blue)
        expect(try await rendered(source, "flip:hv").picture[0, 0], is: Picture.white)
    }

    @Test("rotate turns clockwise, exactly by 90°")
    func quarterTurns() async throws {
        let source = try Picture.quarters(20, 10).encoded(as: .png)

        let turned = try await rendered(source, "rotate:90")
        let back = try await rendered(source, "rotate:-90")
        let kept = try await rendered(source, "rotate:90:fit=0:color=ff0")

        #expect(turned.picture.width == 10 && turned.picture.height == 20)
        expect(turned.picture[0, 0], is: Picture.blue)
        expect(turned.picture[9, 0], is: Picture.red)
        expect(back.picture[0, 0], is: Picture.green)
        #expect(kept.picture.width == 20 && kept.picture.height == 10)
        expect(Array(kept.picture[0, 5].prefix(3)), is: [255, 255, 0])
        #expect(try await rendered(source, "rotate:360").picture == Picture.quarters(20, 10))
    }

    @Test("rotate by any angle shows the background at the corners, with clean edges")
    func anyAngle() async throws {
        let source = try Picture.plain(100, 100, [255, 0, 0]).encoded(as: .png)

        let clear = try await rendered(source, "rotate:45")
        let onBlue = try await rendered(source, "rotate:45:color=00f")

        #expect((141...143).contains(clear.picture.width))
        #expect(clear.picture[0, 0][3] == 0)
        expect(clear.picture[71, 71], is: [255, 0, 0, 255])
        expect(onBlue.picture[0, 0], is: [0, 0, 255])
        // Every visible red is pure: no black has been mixed in at the edges.
        let edges = (0..<clear.picture.height).map { clear.picture[40, $0] }.filter { $0[3] > 16 }
        #expect(edges.allSatisfy { $0[0] > 235 && $0[1] < 20 && $0[2] < 20 })
    }

    @Test(
        "rotate draws its colour outside a picture, not below its transparent pixels",
        arguments: ["0f0", "0000ff80"])
    func besideTransparent(color: String) async throws {
        let source = try TestPicture.plain(60, 60, [255, 0, 0, 0]).encoded(as: .png)
        let opaque = try TestPicture.plain(60, 60, [255, 0, 0, 255]).encoded(as: .png)

        let free = try await rendered(source, "rotate:45:color=\(color)").picture
        let kept = try await rendered(source, "rotate:45:fit=0:color=\(color)").picture
        let wide = try TestPicture.plain(60, 20, [255, 0, 0, 0]).encoded(as: .png)
        let quarter = try await rendered(wide, "rotate:90:fit=0:color=\(color)").picture
        let whole = try await rendered(opaque, "rotate:45:color=\(color)").picture

        #expect(free[42, 42][3] == 0 && kept[30, 30][3] == 0 && quarter[30, 10][3] == 0)
        let wanted: [UInt8] = color == "0f0" ? [0, 255, 0, 255] : [0, 0, 255, 128]
        for picture in [free, whole, kept, quarter] { expect(picture[0, 0], is: wanted) }
        expect(whole[42, 42], is: [255, 0, 0, 255])
    }

    @Test("round cuts only the named corners")
    func round() async throws {
        let source = try Picture.plain(60, 40, Picture.green).encoded(as: .png)

        let all = try await rendered(source, "round:10").picture
        let one = try await rendered(source, "round:10:tl").picture
        let max = try await rendered(source, "round:max").picture

        for (x, y) in [(0, 0), (59, 0), (0, 39), (59, 39)] { #expect(all[x, y][3] == 0) }
        expect(all[30, 0], is: [0, 255, 0, 255])
        expect(all[10, 10], is: [0, 255, 0, 255])
        #expect((1...254).contains(all[3, 2][3]) || (1...254).contains(all[2, 3][3]), "the edge is smooth")
        #expect(one[0, 0][3] == 0 && one[59, 0][3] == 255 && one[59, 39][3] == 255)
        #expect(max[5, 0][3] == 0 && max[30, 0][3] == 255)
    }

    @Test("round draws its border inside the edge")
    func border() async throws {
        let source = try Picture.plain(60, 60, Picture.white).encoded(as: .png)

        let picture = try await rendered(source, "round:10:border=5:color=00f").picture

        #expect(picture[0, 0][3] == 0)
        expect(picture[30, 2], is: [0, 0, 255, 255])
        expect(picture[2, 30], is: [0, 0, 255, 255])
        expect(picture[30, 30], is: [255, 255, 255, 255])
        expect(picture[30, 7], is: [255, 255, 255, 255])
    }

    @Test("Inside round's border a transparent picture stays transparent")
    func borderOfNothing() async throws {
        let source = try Picture.plain(60, 60, [9, 9, 9, 0]).encoded(as: .png)

        let picture = try await rendered(source, "round:10:border=5:color=00f").picture

        expect(picture[30, 2], is: [0, 0, 255, 255])
        #expect(picture[30, 30][3] == 0 && picture[0, 0][3] == 0)
    }

    @Test(
        "tint blends by the compositing rules (W3C Compositing and Blending §9, §10)",
        arguments: [
            ("source-in", [255, 128, 0]), ("source-atop", [255, 128, 0]), ("multiply", [100, 75, 0]),
            ("screen", [255, 203, 200]), ("darken", [100, 128, 0]), ("lighten", [255, 150, 200]),
            ("difference", [155, 22, 200]), ("exclusion", [155, 127, 200]), ("overlay", [200, 151, 145]),
            ("hard-light", [255, 151, 0]), ("color-dodge", [255, 255, 200]), ("color-burn", [100, 45, 0]),
        ] as [(String, [UInt8])])
    func tint(mode: String, wanted: [UInt8]) async throws {
        let source = try Picture.plain(8, 8, [100, 150, 200]).encoded(as: .png)

        let picture = try await rendered(source, "tint:ff8000:\(mode)").picture

        expect(Array(picture[4, 4].prefix(3)), is: wanted, within: 3)
    }

    @Test("Every blend mode of tint works")
    func blendModes() async throws {
        let source = try Picture.plain(8, 8, [100, 150, 200, 128]).encoded(as: .png)
        for mode in BlendMode.allCases {
            #expect(try await rendered(source, "tint:ff800080:\(mode.rawValue)").picture.width == 8)
        }
    }

    @Test("tint with a colour alone shows the picture in it")
    func tintAlone() async throws {
        let source = Picture(20, 10) { x, _ in x < 10 ? [40, 40, 40] : [200, 200, 200] }

        let picture = try await rendered(source.encoded(as: .png), "tint:e23e57").picture

        expect(picture[2, 5], is: [35, 10, 14])
        expect(picture[17, 5], is: [177, 49, 68])
    }

    @Test("source-in keeps only the shape")
    func tintShape() async throws {
        let source = Picture(10, 10, bands: 4) { x, _ in x < 5 ? [9, 9, 9, 255] : [9, 9, 9, 0] }

        let picture = try await rendered(source.encoded(as: .png), "tint:f00:source-in").picture

        expect(picture[1, 5], is: [255, 0, 0, 255])
        #expect(picture[8, 5][3] == 0)
    }

    @Test("blur spreads an edge evenly and does not change plain areas")
    func blur() async throws {
        let source = Picture(100, 20) { x, _ in x < 50 ? [0, 0, 0] : [200, 200, 200] }

        let picture = try await rendered(source.encoded(as: .png), "blur:4").picture

        expect(picture[5, 10], is: [0, 0, 0])
        expect(picture[95, 10], is: [200, 200, 200])
        #expect((90...110).contains(Int(picture[49, 10][0]) / 2 + Int(picture[50, 10][0]) / 2))
        // One standard deviation from the edge, a Gaussian leaves 15.9%.
        expect([picture[46, 10][0]], is: [34], within: 10)
    }

    @Test("A wide blur computed at a smaller size equals one at full size")
    func wideBlur() async throws {
        let source = Picture(240, 160) { x, y in
            (80..<160).contains(x) && (50..<110).contains(y) ? [250, 40, 90] : [20, 80, 40]
        }

        let coarse = try await rendered(source.encoded(as: .png), "blur:20").picture
        let image = try source.image()
        let exact = try Picture(image.derived(shim_gaussian_blur(image.raw, 20, 0.002)).roundedToBytes())

        let distance = try #require(coarse.distance(to: exact))
        #expect(distance <= 3)
    }

    @Test("grayscale weights colours as in CSS (Filter Effects §13.1.1)")
    func grayscale() async throws {
        let source = try Picture.plain(8, 8, [200, 100, 50]).encoded(as: .png)

        expect(try await rendered(source, "grayscale").picture[0, 0], is: [118, 118, 118], within: 1)
        expect(
            try await rendered(source, "grayscale:weights=bt601").picture[0, 0], is: [124, 124, 124],
            within: 1)
        expect(try await rendered(source, "grayscale:0").picture[0, 0], is: [200, 100, 50], within: 0)
        expect(try await rendered(source, "grayscale:0.5").picture[0, 0], is: [159, 109, 84], within: 1)
    }

    @Test("Transparent pixels do not affect their neighbours' colour")
    func premultiplied() async throws {
        // Transparent green beside opaque red: green must never be visible.
        let source = Picture(64, 64, bands: 4) { x, y in
            (x / 4 + y / 4).isMultiple(of: 2) ? [255, 0, 0, 255] : [0, 255, 0, 0]
        }
        let bytes = try source.encoded(as: .png)

        for transform in ["resize:24x24", "blur:3", "blur:20", "rotate:30"] {
            let picture = try await rendered(bytes, transform).picture
            for index in stride(from: 0, to: picture.samples.count, by: 4)
            where picture.samples[index + 3] > 24 {
                #expect(picture.samples[index + 1] <= 16, "\(transform)")
            }
        }
    }

    @Test("Operations are applied in their order")
    func order() async throws {
        let source = try Picture.quarters(40, 40).encoded(as: .png)

        let cutFirst = try await rendered(source, "crop:20x20:northwest,flip:h")
        let flippedFirst = try await rendered(source, "flip:h,crop:20x20:northwest")

        expect(cutFirst.picture[10, 10], is: Picture.red)
        expect(flippedFirst.picture[10, 10], is: Picture.green)
    }

    @Test("Every operation accepts grey pictures, with and without alpha")
    func grey() async throws {
        let texts = [
            "resize:10x", "crop:5x5", "rotate:90", "rotate:30", "flip:v", "round:4", "round:4:border=1",
            "tint:f00:multiply",
            "blur:2", "grayscale", "rotate:30:color=f00", "trim", "pad:1:1:1:1", "pad:1:color=f00",
            "extend:30x30",
            "extend:30x30:fill=blur", "extend:30x30:fill=mirror", "extend:30x30:fill=edge", "mask:circle",
            "tint:f00", "tint:f00:source-in", "tint:f00:source-atop", "sharpen", "pixelate:3", "brightness:2",
            "contrast:2",
            "saturation:2", "gamma:2", "exposure:1", "hue:90", "invert", "sepia", "duotone:000:f00",
            "duotone:0000:f00", "opacity:0.5", "background:f00", "background:f008", "background:fff",
            "speed:2", "loop:1", "reverse",
        ]
        for bands in [1, 2] {
            let source = try Picture(20, 20, bands: bands) { x, _ in
                Array([UInt8(x * 12), 200].prefix(bands))
            }.encoded(as: .png)
            for text in texts {
                #expect(try await rendered(source, text).picture.width > 0, "\(text) on \(bands) bands")
            }
        }
    }
}
