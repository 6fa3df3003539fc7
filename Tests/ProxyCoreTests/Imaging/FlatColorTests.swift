// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ImageTestSupport
@testable import ProxyCore

@Suite("A picture of one colour")
struct FlatColorTests {
    private static let levels: [UInt8] = [255, 240, 201, 200, 128, 60, 1]

    private func flat(_ level: UInt8, bands: Int = 3) -> TestPicture {
        .plain(24, 20, [UInt8](repeating: level, count: bands))
    }

    @Test(
        "is not changed by a blur of any width",
        arguments: [0.1, 1, 2.9, 3, 3.2, 4, 5, 5.8, 6, 7, 11, 12, 15.9, 16, 40, 250])
    func blur(sigma: Double) async throws {
        for level in Self.levels {
            let picture = flat(level)
            let found = try await rendered(picture.encoded(as: .png), "blur:\(sigma)").picture
            #expect(found.distance(to: picture) == 0, "\(level): \(found[12, 10])")
        }
    }

    @Test("is not changed by sharpening", arguments: [0.5, 3.2, 5, 7, 15.9, 40])
    func sharpen(sigma: Double) async throws {
        for level in Self.levels {
            let picture = flat(level)
            let found = try await rendered(picture.encoded(as: .png), "sharpen:\(sigma):10").picture
            #expect(found.distance(to: picture) == 0, "\(level): \(found[12, 10])")
        }
    }

    @Test("keeps its colour and alpha on a canvas filled with the blurred picture", arguments: [3, 4])
    func extend(bands: Int) async throws {
        for level in Self.levels {
            let color = [level, level, level, 255].prefix(bands)
            let source = TestPicture.plain(24, 20, Array(color))
            let found = try await rendered(source.encoded(as: .png), "extend:60x50:fill=blur").picture
            let places = [(0, 0), (59, 0), (30, 2), (2, 25), (30, 25), (59, 49)]
            #expect(places.allSatisfy { Array(found[$0.0, $0.1].prefix(bands)) == Array(color) }, "\(level)")
        }
    }

    @Test(
        "with half-transparent pixels is not changed by sharpening",
        arguments: [[200, 200, 200, 10], [201, 201, 201, 128], [90, 30, 250, 200], [77, 3]] as [[UInt8]])
    func transparentSharpen(color: [UInt8]) async throws {
        let picture = TestPicture.plain(16, 16, color)

        let found = try await rendered(picture.encoded(as: .png), "sharpen:1:10,sharpen:5:10").picture

        let wanted = found.bands == color.count ? color : [color[0], color[0], color[0], color[1]]
        #expect(found[8, 8] == wanted && found[0, 15] == wanted)
    }

    @Test("with half-transparent pixels gets no darker by repeated resampling")
    func transparentResize() async throws {
        let picture = TestPicture.plain(40, 40, [201, 201, 201, 128])
        let text = [39, 38, 37, 36, 35, 34].map { "resize:\($0)x\($0):fill,blur:1" }.joined(separator: ",")

        let found = try await rendered(picture.encoded(as: .png), text).picture

        #expect(zip(found[17, 17], [201, 201, 201, 128]).allSatisfy { abs(Int($0) - $1) <= 1 })
    }
}
