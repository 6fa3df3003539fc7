// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Bodies
@testable import ImageTestSupport
@testable import Imaging
@testable import Rendering

@Suite("Formats that a configuration allows")
struct OptInFormatTests {
    /// A little-endian TIFF of one strip.
    private struct TIFFFile {
        var width = 32
        var height = 32
        var bits = 8
        var compression = 1
        var photometric = 1
        var samples = 1
        var others: [(tag: Int, value: Int)] = []
        var pixels: [UInt8]

        /// The whole file; every value is a number of four bytes.
        var bytes: [UInt8] {
            let big = { (value: Int, count: Int) in
                (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
            }
            let tags =
                [
                    (256, width), (257, height), (258, bits), (259, compression), (262, photometric),
                    (273, 8),
                    (277, samples), (278, height), (279, pixels.count),
                ] + others
            let directory = tags.sorted { $0.0 < $1.0 }.flatMap { tag, value in
                big(tag, 2) + big(4, 2) + big(1, 4) + big(value, 4)
            }
            return [0x49, 0x49, 0x2A, 0] + big(8 + pixels.count, 4) + pixels + big(tags.count, 2) + directory
                + [0, 0, 0, 0]
        }
    }

    private func read(_ bytes: [UInt8], _ format: ImageFormat, _ text: String = "") async throws
        -> TestPicture
    {
        try await rendered(bytes, text) { $0.decodableFormats.append(format) }.picture
    }

    @Test("Samples of 32 bits have the brightness of their highest byte")
    func wideSamples() async throws {
        let pixels = (0..<32 * 32).flatMap { index in [0xAB, 0xCD, 0xEF, UInt8(index % 32 * 8)] as [UInt8] }
        for text in ["", "flip:h,flip:h"] {
            let picture = try await read(TIFFFile(bits: 32, pixels: pixels).bytes, .tiff, text)

            for x in 0..<32 { #expect(abs(Int(picture[x, 9][0]) - x * 8) <= 1, "\(x): \(picture[x, 9])") }
        }
    }

    @Test(
        "Pages that would be decoded with wrong colours are refused: YCbCr, signed and floating-point samples, planar tiles"
    )
    func refusedTIFF() async throws {
        let pixels = [UInt8](repeating: 99, count: 32 * 32 * 3)
        let whole = TIFFFile(photometric: 2, samples: 3, pixels: pixels)
        #expect(try await read(whole.bytes, .tiff)[3, 3] == [99, 99, 99])

        for (file, name) in [
            (
                TIFFFile(photometric: 6, samples: 3, others: [(530, 0x0001_0001)], pixels: pixels),
                "TIFF in YCbCr without JPEG"
            ),
            (TIFFFile(others: [(339, 2)], pixels: pixels), "TIFF of signed or complex samples"),
            (
                TIFFFile(bits: 32, others: [(339, 3)], pixels: pixels + pixels),
                "TIFF of floating-point samples other than RGB of 32 bits"
            ),
            (
                TIFFFile(
                    photometric: 2, samples: 3, others: [(284, 2), (322, 32), (323, 32), (324, 8)],
                    pixels: pixels),
                "TIFF of tiles, a plane each"
            ),
        ] {
            await #expect(throws: RenderError.unsupportedFormat(name)) { try await read(file.bytes, .tiff) }
        }
    }

    @Test("Each page of a TIFF is checked, and none beyond the file")
    func pages() throws {
        let file = TIFFFile(photometric: 6, samples: 3, pixels: [UInt8](repeating: 9, count: 3_072)).bytes
        var two = file
        // The next directory is the first one again: endless pages.
        let start = 8 + 3_072
        two.replaceSubrange(two.count - 4..<two.count, with: [UInt8(start & 255), UInt8(start >> 8), 0, 0])

        #expect(file.withUnsafeBytes { TIFFPage($0, index: 0)?.unsupported } != nil)
        #expect(file.withUnsafeBytes { TIFFPage($0, index: 1) == nil })
        #expect(two.withUnsafeBytes { TIFFPage($0, index: 300)?.unsupported } != nil)
        for length in 0..<file.count {
            let part = Array(file.prefix(length))
            _ = part.withUnsafeBytes { TIFFPage($0, index: 0)?.unsupported }
        }
    }

    @Test("Invalid fax codes are damage, although the decoder continues")
    func faxCodes() async throws {
        // A row equal to the one above is one bit of 1 (ITU-T T.6 §2.2.4); the first row is white.
        let end: [UInt8] = [0x00, 0x10, 0x01]
        let whole = TIFFFile(
            bits: 1, compression: 4, photometric: 0, pixels: [0xFF, 0xFF, 0xFF, 0xFF] + end
        ).bytes
        let damaged = TIFFFile(
            bits: 1, compression: 4, photometric: 0,
            pixels: [0xFF, 0xFF, 0x02, 0x7F, 0x03, 0x55, 0x02, 0x2A, 0x55]
                + [UInt8](repeating: 0xFF, count: 9) + end
        ).bytes
        var plan = RenderPlan(format: .explicit(.png))
        plan.decodableFormats.append(.tiff)
        try await WorkerPool.running { pool in
            let target = try RenderTarget()
            let rendition = try await pool.render(plan, from: .bytes(whole), into: target.file, at: 0)
            #expect(try TestPicture(decoding: target.bytes(rendition))[9, 30][0] == 255)
            await #expect {
                try await pool.render(plan, from: .bytes(damaged), into: RenderTarget().file, at: 0)
            } throws: {
                if case .badImageData? = $0 as? RenderError { true } else { false }
            }
        }
    }

    @Test(
        "A drawing in inches or millimetres has 96 pixels per inch, as in browsers (CSS Values §6.2)"
    )
    func drawings() async throws {
        let body = "viewBox='0 0 10 10'><rect width='5' height='10' fill='#f00'/></svg>"
        for (sides, size) in [
            ("width='1in' height='25.4mm'", (96, 96)), ("width=\"2.54cm\"\nheight = ' 36pt '", (96, 48)),
            ("height='1pc' width='20'", (20, 16)), ("width='30px' height='1IN'", (30, 96)),
            ("width='40' height='40'", (40, 40)), ("stroke-width='1in' width='40' height='40'", (40, 40)),
        ] {
            for head in ["", "<?xml version='1.0'?><!-- <svg width='9in'> -->"] {
                let text = "\(head)<svg xmlns='http://www.w3.org/2000/svg' \(sides) \(body)"
                let picture = try await read(Array(text.utf8), .svg)

                #expect(picture.width == size.0 && picture.height == size.1, "\(sides)")
            }
        }
        let left = try await read(
            Array("<svg xmlns='http://www.w3.org/2000/svg' width='1in' height='1in' \(body)".utf8), .svg,
            "resize:48x")
        #expect(left.width == 48 && left[20, 20] == [255, 0, 0, 255] && left[28, 20][3] == 0)
    }

    @Test("A drawing without such a size is not changed")
    func otherDrawings() {
        for text in [
            "<svg", "<svg ", "<svg width", "<svg width=", "<svg width='1in",
            "<svg width='in' height='1e999in'>",
            "<svg width='nanmm' height='0x9in' x='1in'>", "<svg width='50%' height='2em'>",
            "<svg><a width='1in'/>",
            "<svg width='1 in mm'>",
        ] {
            let found = Array(text.utf8).withUnsafeBytes { DrawingSize.inPixels($0) }
            #expect(found == nil, "\(text)")
        }
    }

    @Test("An animated JPEG XL is refused, and a still is read")
    func movingJXL() async throws {
        for file in Fixtures.animatedJXL {
            await #expect(throws: RenderError.unsupportedFormat("animated JPEG XL")) {
                try await read(file, .jxl)
            }
            for length in 0..<file.count {
                _ = Array(file.prefix(length)).withUnsafeBytes { JXLHeader($0)?.isAnimated }
            }
        }
        for side in [8, 100, 300] {
            VipsLibrary.unblock(.jxl)
            let still = try TestPicture.ramps(side, side + 9).encoded(as: .jxl)
            #expect(still.withUnsafeBytes { JXLHeader($0)?.isAnimated } == false)
            #expect(try await read(still, .jxl).width == side)
        }
    }
}
