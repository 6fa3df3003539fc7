// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Imaging
@testable import Primitives

@Suite("BlurHash, ThumbHash and the dominant colour")
struct PlaceholderHashTests {
    /// The picture that the reference implementations encoded.
    private static func picture(_ width: Int, _ height: Int, isOpaque: Bool = true) -> SmallPicture {
        let samples = (0..<height).flatMap { y in
            (0..<width).flatMap { x -> [UInt8] in
                let color = [x * 7 + y * 3, x * x + y * 5, x * y].map { UInt8($0 % 256) }
                return color + [isOpaque ? 255 : UInt8((x * 5 + y * 2) % 256)]
            }
        }
        return SmallPicture(width: width, height: height, samples: samples)
    }

    @Test(
        "BlurHash equals the output of other encoders (checked with `blurhash` 1.1.5 of PyPI)",
        arguments: [
            (32, 20, 4, 3, "LpHUwY0|m-n5R}V]r_SiR~sqWsoa"), (20, 32, 4, 3, "LQEWXC0xmSoH4.vji+cpoEj_gNe+"),
            (100, 75, 4, 3, "L5HenCv_vxrooE6uO71a55mm58mo"), (1, 1, 1, 1, "000000"),
            (
                64, 64, 9, 9,
                "|PHo8xavv}NsEeskR$SvWTW+J5Na1u#n#TjIrtaOM{rZIr#D:;V{nTF1oMbpoaSzxYOqXRKNo{$%W9bFWEj]nmbIes#:"
                    + "V^nhaxj0oMjJW=j?W-jrbVbHbbWrofbFk8n~k8oae:aijvjIaebEaeaMbWa#a$bbjtjrbXoJfl"
            ),
        ])
    func blurHash(width: Int, height: Int, columns: Int, rows: Int, wanted: String) {
        let picture = Self.picture(width, height)

        #expect(BlurHash.text(of: picture, columns: columns, rows: rows) == wanted)
    }

    @Test(
        "ThumbHash equals the output of other encoders (checked with `thumbhash-python` 1.0.1 of PyPI)",
        arguments: [
            (32, 20, true, "HBkOJIxQdYhkiHiGeIekbw15eA=="), (20, 32, true, "2/gJHAhAFnZqiIZ3eHfJaQ9tiw=="),
            (100, 75, true, "HwgGDYJmdkdmVwhkZVRndu6PurxA"),
            (16, 16, false, "2LiFDQITsHijaYh3iHcf5hefcHd1iIh4eA=="),
            (40, 90, false, "HuiBCgIYaqhwUna/vNz3Xzd2B5iFa3k="),
            (1, 1, true, "AAgCBwAAAAAAAAAAAAAAAAAAAAAAAAAA"), (7, 3, true, "hAgGE4KAh4eFiHiIkHc3sHc="),
        ])
    func thumbHash(width: Int, height: Int, isOpaque: Bool, wanted: String) {
        let bytes = ThumbHash.bytes(of: Self.picture(width, height, isOpaque: isOpaque))

        let text = wanted.filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
        #expect(Base64.encodeURL(bytes) == String(text))
    }

    @Test("The dominant colour is that of the largest visible area")
    func dominant() throws {
        func color(_ pixel: (Int) -> [UInt8]) -> PixelColor? {
            DominantColor.color(
                of: SmallPicture(width: 10, height: 10, samples: (0..<100).flatMap(pixel)))
        }

        #expect(color { $0 < 60 ? [200, 10, 10, 255] : [0, 0, 255, 255] }?.cssText == "#c80a0a")
        #expect(color { $0 < 60 ? [200, 10, 10, 80] : [0, 0, 255, 255] }?.cssText == "#0000ff")
        #expect(color { _ in [9, 9, 9, 0] } == nil)
    }
}
