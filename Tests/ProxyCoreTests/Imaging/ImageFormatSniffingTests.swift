// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ImageTestSupport
@testable import ProxyCore

@Suite("Magic bytes")
struct ImageFormatSniffingTests {
    @Test(
        "A picture written by libvips is recognized",
        arguments: [ImageFormat.jpeg, .png, .webp, .gif, .avif, .tiff])
    func written(format: ImageFormat) throws {
        let bytes = try TestPicture.ramps(16, 16).encoded(as: format)

        #expect(ImageFormat(sniffing: bytes) == format)
        #expect(ImageFormat(sniffing: Array(bytes.prefix(ImageFormat.sniffLength))) == format)
    }

    @Test(
        "TIFF is recognized in both byte orders, with offsets of four or eight bytes",
        arguments: [
            [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0], [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8],
            [0x49, 0x49, 0x2B, 0, 8, 0, 0, 0, 16], [0x4D, 0x4D, 0, 0x2B, 0, 8, 0, 0, 16],
        ] as [[UInt8]])
    func tiff(bytes: [UInt8]) {
        #expect(ImageFormat(sniffing: bytes) == .tiff)
        #expect(ImageFormat(sniffing: Array(bytes.prefix(3))) == nil)
    }

    @Test(
        "Text that begins with an svg element is SVG",
        arguments: [
            "<svg>", "<svg xmlns=\"x\">",
            "\u{feff}<?xml version=\"1.0\"?>\n<!-- a > b -->\n<!DOCTYPE svg PUBLIC \"x\">\n<svg\n",
        ])
    func svg(text: String) {
        #expect(ImageFormat(sniffing: Array(text.utf8)) == .svg)
    }

    @Test(
        "The brands of an ISO file distinguish AVIF from HEIC",
        arguments: [
            ("avif", ["mif1"], .avif), ("avis", [], .avif), ("heic", ["mif1"], .heic),
            ("mif1", ["heic"], .heic),
            ("mif1", ["miaf", "avif"], .avif), ("mp42", ["isom"], nil), ("mif1", [], nil),
        ] as [(String, [String], ImageFormat?)])
    func brands(major: String, compatible: [String], format: ImageFormat?) {
        let brands = Array((major + "\0\0\0\0" + compatible.joined()).utf8)
        let bytes = [0, 0, 0, UInt8(brands.count + 8)] + Array("ftyp".utf8) + brands

        #expect(ImageFormat(sniffing: bytes) == format)
    }

    @Test(
        "Other bytes are no picture",
        arguments: [
            "", "<", "<html><svg></svg>", "<!DOCTYPE html><html>", "<svgx>", "<!-- never closed", "GIF88a",
            "RIFF",
            "RIFF0000WAVE", "%PDF-1.4", "\u{ff}", "ftyp", "0000ftyp",
        ])
    func others(text: String) {
        #expect(ImageFormat(sniffing: Array(text.utf8)) == nil)
    }

    @Test("Every prefix of a recognized picture has its format or none")
    func prefixes() throws {
        for format in [ImageFormat.jpeg, .png, .webp, .gif, .avif] {
            let bytes = try TestPicture.ramps(4, 4).encoded(as: format)
            for length in 0..<min(40, bytes.count) {
                let found = ImageFormat(sniffing: Array(bytes.prefix(length)))
                #expect(found == nil || found == format)
            }
        }
    }
}
