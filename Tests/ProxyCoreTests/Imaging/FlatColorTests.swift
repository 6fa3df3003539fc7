// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ProxyCore

@Suite("One colour stays one colour")
struct FlatColorTests {
    private static let levels: [UInt8] = [255, 240, 201, 200, 128, 60, 1]

    private func flat(_ level: UInt8, bands: Int = 3) -> TestPicture {
        .plain(24, 20, [UInt8](repeating: level, count: bands))
    }

    @Test(
        "A blur changes nothing, however wide it is",
        arguments: [0.1, 1, 2.9, 3, 3.2, 4, 5, 5.8, 6, 7, 11, 12, 15.9, 16, 40, 250])
    func blur(sigma: Double) async throws {
        for level in Self.levels {
            let picture = flat(level)
            let found = try await rendered(picture.encoded(as: .png), "blur:\(sigma)").picture
            #expect(found.distance(to: picture) == 0, "\(level): \(found[12, 10])")
        }
    }

    @Test("Neither does sharpening", arguments: [0.5, 3.2, 5, 7, 15.9, 40])
    func sharpen(sigma: Double) async throws {
        for level in Self.levels {
            let picture = flat(level)
            let found = try await rendered(picture.encoded(as: .png), "sharpen:\(sigma):10").picture
            #expect(found.distance(to: picture) == 0, "\(level): \(found[12, 10])")
        }
    }

    @Test("A canvas filled with the blurred picture is of its colour, and as opaque", arguments: [3, 4])
    func extend(bands: Int) async throws {
        for level in Self.levels {
            let color = [level, level, level, 255].prefix(bands)
            let source = TestPicture.plain(24, 20, Array(color))
            let found = try await rendered(source.encoded(as: .png), "extend:60x50:fill=blur").picture
            let places = [(0, 0), (59, 0), (30, 2), (2, 25), (30, 25), (59, 49)]
            #expect(places.allSatisfy { Array(found[$0.0, $0.1].prefix(bands)) == Array(color) }, "\(level)")
        }
    }
}
