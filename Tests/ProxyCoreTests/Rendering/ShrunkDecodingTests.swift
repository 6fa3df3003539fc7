// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ImageTestSupport
@testable import ProxyCore

@Suite("Sources shrunk by their decoder")
struct ShrunkDecodingTests {
    /// White with a red frame whose width is no multiple of the decoder's block.
    private static func framed(_ width: Int, _ height: Int, _ frame: Int) -> TestPicture {
        TestPicture(width, height) { x, y in
            let isFrame = min(x, y, width - 1 - x, height - 1 - y) < frame
            return isFrame ? [255, 0, 0] : [255, 255, 255]
        }
    }

    @Test(
        "A JPEG keeps its last columns and rows, whatever its size",
        arguments: [(1607, 807, 200), (1203, 903, 300), (1303, 801, 325), (1601, 805, 400)])
    func edges(width: Int, height: Int, wanted: Int) async throws {
        let picture = Self.framed(width, height, 7)

        let small = try await rendered(picture.encoded(as: .jpeg), "resize:\(wanted)x").picture
        let plain = try await rendered(picture.encoded(as: .png), "resize:\(wanted)x").picture

        #expect(small.width == plain.width && small.height == plain.height)
        let (right, bottom) = (plain.width - 1, plain.height - 1)
        for (x, y) in [(right, bottom / 2), (right / 2, bottom), (0, bottom / 2), (right / 2, 0)] {
            let difference = zip(small[x, y], plain[x, y]).map { abs(Int($0) - Int($1)) }.max() ?? 255
            #expect(difference < 48, "\(small[x, y]), \(plain[x, y]) at \(x), \(y)")
        }
    }

    @Test("A shrunk JPEG is not shifted", arguments: [1_601, 1_603, 1_605, 1_607])
    func places(width: Int) async throws {
        // An edge at nine tenths: the brightness of its row shows its position.
        let edge = width * 9 / 10
        let picture = TestPicture(width, 640) { x, _ in Array(repeating: x < edge ? 255 : 0, count: 3) }

        let small = try await rendered(picture.encoded(as: .jpeg), "resize:200x").picture

        // libvips shifts a picture that is hardly shrunk by up to a quarter of a pixel.
        let light = (0..<small.width).reduce(0.0) { $0 + Double(small[$1, 20][0]) / 255 }
        #expect(abs(light - Double(edge) * 200 / Double(width)) <= 0.25, "\(light)")
    }

    @Test("Transparent pixels of a lossy WebP are not visible at edges")
    func transparentColors() async throws {
        let picture = TestPicture(1_200, 840, bands: 4) { x, _ in x < 601 ? [255, 0, 0, 255] : [0, 0, 0, 0] }
        let settings = EncodeSettings(
            format: .webp, quality: 90, isLossless: false, isProgressive: nil, metadata: .none)
        let webp = try VipsCoder.encode(picture.image(), settings).withBytes { Array($0) }

        let small = try await rendered(webp, "resize:100x").picture

        for x in 0..<100 where small[x, 30][3] > 30 { #expect(small[x, 30][0] > 230, "\(small[x, 30])") }
    }
}
