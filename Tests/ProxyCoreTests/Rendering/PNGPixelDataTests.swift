// SPDX-License-Identifier: Apache-2.0

import CVips
import Testing

@testable import ImageTestSupport
@testable import ProxyCore

@Suite("The maximum number of compressed pixel bytes of a PNG")
struct PNGPixelDataTests {
    private static func big(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(value >> $0 & 0xFF) } }

    private static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
        let inner = Array(name.utf8) + body
        return big(body.count) + inner + big(Int(PNGChecksum.of(inner)))
    }

    /// A header of 8 bits RGB, and chunks.
    private static func file(_ width: Int, _ height: Int, _ chunks: [[UInt8]]) -> [UInt8] {
        PNGChunks.signature + chunk("IHDR", big(width) + big(height) + [8, 2, 0, 0, 0]) + chunks.joined()
            + chunk("IEND", [])
    }

    private func isLetIn(_ file: [UInt8]) -> Bool {
        file.withUnsafeBytes { bytes in
            do { try PNGChunks.checkWeight(of: bytes) } catch { return false }
            return true
        }
    }

    @Test("More bytes than the uncompressed pixels are damage, in any number of chunks")
    func bomb() async throws {
        let part = Self.chunk("IDAT", [UInt8](repeating: 0, count: 10_000))

        #expect(isLetIn(Self.file(10, 10, Array(repeating: part, count: 6))))
        #expect(!isLetIn(Self.file(10, 10, Array(repeating: part, count: 7))))
        #expect(isLetIn(Self.file(100, 200, Array(repeating: part, count: 12))))
        let source = try openedSource(Self.file(10, 10, Array(repeating: part, count: 7)))
        #expect(throws: ImagingError.badImageData("more packed pixels than the picture has")) {
            try VipsCoder.header(of: source, as: .png)
        }
    }

    @Test("The same applies to each frame of an animation")
    func frames() {
        func control(_ width: Int, _ height: Int) -> [UInt8] {
            let sides = Self.big(width) + Self.big(height)
            return Self.chunk("fcTL", Self.big(0) + sides + [UInt8](repeating: 0, count: 14))
        }
        let picture = control(300, 300) + Self.chunk("IDAT", [UInt8](repeating: 0, count: 250_000))
        let data = Self.chunk("fdAT", [UInt8](repeating: 0, count: 60_000))

        #expect(isLetIn(Self.file(300, 300, [picture, control(10, 10), data, control(10, 10), data])))
        #expect(!isLetIn(Self.file(300, 300, [picture, control(10, 10), data, data])))
        #expect(isLetIn(Self.file(300, 300, [picture, control(200, 100), data, data])))
    }

    @Test("Sides beyond any limit do not overflow", arguments: [0, 1, 0xFFFF_FFFF])
    func sides(side: Int) {
        #expect(isLetIn(Self.file(side, 0xFFFF_FFFF, [Self.chunk("IDAT", [0])])))
    }

    @Test("Uncompressed pixels are accepted, also interlaced ones", arguments: [0, 1] as [CInt])
    func stored(interlaced: CInt) throws {
        for (width, height, bands) in [(500, 400, 3), (1, 3_000, 4), (3_000, 1, 1), (7, 5_000, 2)] {
            let picture = TestPicture(width, height, bands: bands) { x, y in
                (0..<bands).map { UInt8(truncatingIfNeeded: (x * 31 + $0) &* 2_654_435_761 ^ y * 40_503) }
            }
            var bytes: UnsafeMutableRawPointer?
            var count = 0
            let image = try picture.image()
            try #require(shim_save_png(image.raw, &bytes, &count, 0, interlaced, 0, 1) == 0)
            let encoded = EncodedImage(adopting: try #require(bytes), count: count).withBytes { Array($0) }

            #expect(encoded.count > width * height * bands && isLetIn(encoded))
        }
    }
}
