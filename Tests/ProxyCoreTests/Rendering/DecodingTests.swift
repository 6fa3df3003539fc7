// SPDX-License-Identifier: Apache-2.0

import CTestVips
import CVips
import Glibc
import Primitives
import TestSupport
import Testing

@testable import Bodies
@testable import ImageTestSupport
@testable import Imaging
@testable import Rendering

@Suite("Reading sources")
struct DecodingTests {
    @Test("Every EXIF orientation is applied and removed from the metadata", arguments: 1...8)
    func orientation(value: Int) async throws {
        // The pixels that a camera stores so that the upright picture is red, green / blue, white, 40 × 20.
        let upright = TestPicture.quarters(40, 20)
        let stored =
            value > 4
            ? TestPicture(20, 40) { x, y in upright.sample(value, x, y) }
            : TestPicture(40, 20) { x, y in upright.sample(value, x, y) }
        let bytes = try stored.encoded(as: .jpeg, orientation: value)

        for text in ["", "resize:20x", "flip:h,flip:h"] {
            let result = try await rendered(bytes, text) { $0.metadata = .keep }

            let picture = result.picture
            #expect(picture.width == 2 * picture.height)
            #expect(picture[2, 1][0] > 200 && picture[2, 1][1] < 60, "top left is red")
            #expect(picture[picture.width - 3, 1][1] > 200, "top right is green")
            #expect(picture[2, picture.height - 2][2] > 200, "bottom left is blue")
            let source = try openedSource(result.bytes)
            #expect(try VipsCoder.header(of: source, as: .png).orientation == 1)
        }
    }

    @Test("orient overrides the metadata, at any position")
    func orientOperation() async throws {
        let bytes = try TestPicture.quarters(40, 20).encoded(as: .jpeg, orientation: 6)

        #expect(try await rendered(bytes, "orient:none").picture.width == 40)
        #expect(try await rendered(bytes, "resize:10x,orient:none").rendition.height == 5)
        #expect(try await rendered(bytes, "orient:8,resize:10x").rendition.height == 20)
        #expect(try await rendered(bytes, "orient:3").picture[2, 2][0] > 200, "white is top left")
    }

    @Test("Grey, 16-bit and CMYK sources become sRGB of 8 bits")
    func colourSpaces() async throws {
        let ramps = TestPicture.ramps(64, 64)
        let image = try ramps.image()
        let wide = try image.derived(shim_colourspace(image.raw, VIPS_INTERPRETATION_RGB16))
        let cmyk = try image.derived(shim_colourspace(image.raw, VIPS_INTERPRETATION_CMYK))
        let grey = TestPicture(64, 64, bands: 1) { x, _ in [UInt8(x * 4)] }

        for text in ["", "resize:64x64:fill", "grayscale:0"] {
            let fromWide = try await rendered(TestPicture.bytes(of: wide, as: .png), text)
            #expect(try #require(fromWide.picture.distance(to: ramps)) <= 2)
            let fromCMYK = try await rendered(TestPicture.bytes(of: cmyk, as: .jpeg), text)
            #expect(fromCMYK.picture.bands == 3)
            // Ink can't represent every colour of the screen, so saturated corners differ.
            #expect(try #require(fromCMYK.picture.meanDistance(to: ramps)) < 40)
            let fromGrey = try await rendered(grey.encoded(as: .jpeg), text)
            #expect(abs(Int(fromGrey.picture[32, 32][0]) - 128) <= 3)
        }
    }

    @Test("Every operation accepts CMYK, 16 bits and palettes, with and without alpha")
    func everySource() async throws {
        let ramps = TestPicture.ramps(40, 40)
        let clear = TestPicture(40, 40, bands: 4) { x, y in [UInt8(x * 6), 90, UInt8(y * 6), UInt8(x * 6)] }
        let image = try ramps.image()
        let wide = try image.derived(shim_colourspace(image.raw, VIPS_INTERPRETATION_RGB16))
        let cmyk = try image.derived(shim_colourspace(image.raw, VIPS_INTERPRETATION_CMYK))
        let sources = try [
            TestPicture.bytes(of: wide, as: .png), TestPicture.bytes(of: cmyk, as: .jpeg),
            ramps.encoded(as: .gif), clear.encoded(as: .png), clear.encoded(as: .webp),
        ]
        let texts = [
            "trim", "pad:3", "extend:60x50:fill=blur", "mask:circle", "tint:f00:overlay", "sharpen:1",
            "pixelate:7", "contrast:2", "hue:40", "sepia", "duotone:000:fff", "opacity:0.5", "background:f00",
            "text:Ag", "rotate:30", "round:9:border=3",
        ]
        for (index, source) in sources.enumerated() {
            for text in texts {
                let picture = try await rendered(source, text).picture
                #expect(picture.bands == 3 || picture.bands == 4, "\(text) on source \(index)")
            }
        }
    }

    @Test("HEIC is read, with and without alpha, and written in a format of browsers")
    func highEfficiency() async throws {
        let plain = try await rendered(Fixtures.heic.plain, as: .automatic([]))
        #expect(plain.rendition.format == .jpeg && plain.rendition.source.format == .heic)
        #expect(try #require(plain.picture.meanDistance(to: .quarters(64, 48))) < 12)

        let clear = try await rendered(Fixtures.heic.clear, "resize:32x", as: .automatic([]))
        #expect(clear.rendition.format == .png && clear.rendition.height == 24)
        #expect(clear.picture[16, 1][3] < 30 && clear.picture[16, 22][3] > 225)
        #expect(clear.picture[4, 20][2] > 200, "bottom left is blue")
    }

    @Test("An embedded profile is applied and not written")
    func profile() async throws {
        let image = try TestPicture.plain(16, 16, [0, 200, 0]).image()
        let wide = try image.derived(test_icc_from_srgb(image.raw, "p3"))
        let bytes = try TestPicture.bytes(of: wide, as: .png)
        let stored = try TestPicture(decoding: bytes)

        let result = try await rendered(bytes)

        #expect(stored[8, 8] != result.picture[8, 8], "the stored numbers mean something else")
        #expect(zip(result.picture[8, 8], [0, 200, 0] as [UInt8]).allSatisfy { abs(Int($0) - Int($1)) <= 3 })
        let source = try openedSource(result.bytes)
        let decoded = try VipsCoder.open(source, as: .png, frames: .primary, shrink: .none)
        #expect(shim_has_field(decoded.raw, "icc-profile-data") == 0)
    }

    @Test(
        "A profile for another colour space is ignored: grey's on colour, colour's on grey and on CMYK")
    func foreignProfile() async throws {
        let ramps = TestPicture.ramps(32, 32)
        let grey = TestPicture(32, 32, bands: 1) { x, _ in [UInt8(x * 8)] }
        for (picture, space) in [(ramps, "GRAY"), (ramps, "CMYK"), (grey, "RGB "), (grey, "CMYK")] {
            let plain = try await rendered(picture.encoded(as: .png)).picture
            let image = try picture.image()
            var profile = try #require(try wideProfile())
            profile.replaceSubrange(16..<20, with: Array(space.utf8))
            shim_set_blob_field(image.raw, "icc-profile-data", profile, profile.count)

            for text in ["", "resize:32x32:fill", "flip:h,flip:h"] {
                let result = try await rendered(TestPicture.bytes(of: image, as: .png), text).picture
                #expect(result.distance(to: plain) == 0, "\(space), \(text)")
            }
        }
    }

    /// A profile in colour that is not sRGB's.
    private func wideProfile() throws -> [UInt8]? {
        let image = try TestPicture.plain(2, 2, [0, 0, 0]).image()
        return try image.derived(test_icc_from_srgb(image.raw, "p3")).blob("icc-profile-data")
    }

    @Test(
        "strip and keep keep the copyright, none removes it",
        arguments: [ImageFormat.jpeg, .webp, .avif])
    func copyright(format: ImageFormat) async throws {
        let bytes = try TestPicture.ramps(16, 16).encoded(as: .jpeg, orientation: 6, copyright: "Ada")

        for (policy, expected) in [(RenderPlan.MetadataPolicy.strip, true), (.keep, true), (.none, false)] {
            let result = try await rendered(bytes, as: .explicit(format)) { $0.metadata = policy }
            let source = try openedSource(result.bytes)
            let image = try VipsCoder.open(source, as: format, frames: .primary, shrink: .none)
            #expect((shim_has_field(image.raw, "exif-ifd0-Copyright") != 0) == expected, "\(policy)")
            #expect(image.orientation == 1)
        }
    }

    @Test(
        "A truncated picture is bad data, in every format",
        arguments: [ImageFormat.jpeg, .png, .webp, .gif, .avif])
    func truncated(format: ImageFormat) async throws {
        let noise = TestPicture(96, 96) { x, y in
            let value = (x &* 2_654_435_761 ^ y &* 40_503) & 0xFFFF
            return [UInt8(value & 255), UInt8(value >> 8), UInt8((x * y) & 255)]
        }
        let bytes = try noise.encoded(as: format)

        for share in [10, 3, 2] {
            let error = await #expect(throws: RenderError.self) {
                try await rendered(Array(bytes.prefix(bytes.count - bytes.count / share)))
            }
            guard case .badImageData = error else {
                Issue.record("\(format) cut by 1/\(share): \(String(describing: error))")
                continue
            }
        }
    }

    @Test("A JPEG with too few bytes for its size is damaged by its header (ITU-T T.81 §F.1.2)")
    func tooShort() async throws {
        for isProgressive in [false, true] {
            let settings = EncodeSettings(
                format: .jpeg, quality: 1, isLossless: false, isProgressive: isProgressive, metadata: .none)
            // Of one colour: a picture of this size can't have fewer bytes.
            let plain = try VipsCoder.encode(TestPicture.plain(600, 600, [9, 99, 199]).image(), settings)
                .withBytes { Array($0) }
            #expect(try await rendered(plain).picture.width == 600)

            var larger = plain
            let frame = try #require(
                plain.indices.first { plain[$0] == 0xFF && [0xC0, 0xC2].contains(plain[$0 + 1]) })
            larger.replaceSubrange(frame + 5..<frame + 9, with: [0x19, 0, 0x19, 0])
            await #expect(throws: RenderError.badImageData("fewer bytes than a picture of its size takes")) {
                try await rendered(larger)
            }
        }
    }

    @Test("Other bytes and forbidden formats have different errors")
    func refusals() async throws {
        let tiff = try TestPicture.ramps(8, 8).encoded(as: .tiff)
        await #expect(throws: RenderError.notAnImage) { try await rendered(Array("<html>".utf8)) }
        await #expect(throws: RenderError.notAnImage) { try await rendered([]) }
        await #expect(throws: RenderError.unsupportedFormat("tiff")) { try await rendered(tiff) }
        await #expect(throws: RenderError.unsupportedFormat("heic")) {
            try await rendered(TestPicture.ramps(8, 8).encoded(as: .png), as: .explicit(.heic))
        }
        #expect(try await rendered(tiff) { $0.decodableFormats.append(.tiff) }.picture == .ramps(8, 8))
    }

    @Test("SVG is rasterized at the requested size if it is allowed")
    func svg() async throws {
        let text =
            "<svg xmlns='http://www.w3.org/2000/svg' width='10' height='10'><rect width='10' height='10' fill='#f00'/></svg>"

        let large = try await rendered(Array(text.utf8), "resize:100x:enlarge=1") {
            $0.decodableFormats.append(.svg)
        }

        #expect(large.picture.width == 100)
        #expect(large.picture[50, 50] == [255, 0, 0, 255])
    }

    @Test("Limits are checked against the header, before pixels are decoded")
    func limits() async throws {
        let png = try TestPicture.ramps(100, 50).encoded(as: .png)
        // Only the header, up to the first chunk of pixels: decoding a pixel would be bad data.
        let pixels = try #require(png.indices.first { png[$0...].starts(with: "IDAT".utf8) })
        let header = Array(png.prefix(pixels + 8))
        await #expect(throws: RenderError.self) { try await rendered(header) }

        await #expect(throws: RenderError.tooManyPixels("")) {
            try await rendered(header) { $0.limits.sourcePixels = 4_999 }
        }
        await #expect(throws: RenderError.tooManyPixels("")) {
            try await rendered(header) { $0.limits.side = 99 }
        }
        await #expect(throws: RenderError.resultTooLarge("")) {
            try await rendered(png) { $0.limits.outputPixels = 4_999 }
        }
        await #expect(throws: RenderError.resultTooLarge("")) {
            try await rendered(png, "resize:1000x:enlarge=1,crop:1x1") { $0.limits.outputPixels = 10_000 }
        }
        await #expect(throws: RenderError.resultTooLarge("")) {
            try await rendered(png, "rotate:45") { $0.limits.side = 100 }
        }
        #expect(try await rendered(png) { $0.limits.sourcePixels = 5_000 }.picture.width == 100)
    }

    @Test("A source is read from its range of a file, and the result is written at its offset")
    func ranges() async throws {
        let source = try RenderTarget()
        let png = try TestPicture.ramps(20, 10).encoded(as: .png)
        try DescriptorBytes.write(Array("prefix".utf8) + png + Array("suffix".utf8), to: source.file.raw)
        let target = try RenderTarget()

        let rendition = try await InProcessRenderer().render(
            RenderPlan(format: .explicit(.png)),
            from: .file(source.file, offset: 6, length: Int64(png.count)), into: target.file, at: 100)

        #expect(try TestPicture(decoding: target.bytes(rendition, from: 100)) == .ramps(20, 10))
        #expect(rendition.width == 20 && rendition.height == 10 && rendition.source.format == .png)
        #expect(lseek(target.file.raw, 0, SEEK_END) == 100 + off_t(rendition.byteCount))
    }
}

extension TestPicture {
    /// The pixel that a camera stores at x, y when it marks this upright picture with `orientation` (EXIF 2.32 §4.6.4).
    fileprivate func sample(_ orientation: Int, _ x: Int, _ y: Int) -> [UInt8] {
        let right = width - 1
        let bottom = height - 1
        switch orientation {
        case 2: return self[right - x, y]
        case 3: return self[right - x, bottom - y]
        case 4: return self[x, bottom - y]
        case 5: return self[y, x]
        case 6: return self[right - y, x]
        case 7: return self[right - y, bottom - x]
        case 8: return self[y, bottom - x]
        default: return self[x, y]
        }
    }
}
