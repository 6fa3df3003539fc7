// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ProxyCore

@Suite("Items of HEIF files")
struct HEIFItemsTests {
    @Test("A grid is put together, and cut to its size (ISO/IEC 23008-12 §6.6.2.3)")
    func together() async throws {
        let whole = try await rendered(Fixtures.grids.whole)
        let part = try await rendered(Fixtures.grids.cut)

        #expect(try #require(whole.picture.meanDistance(to: .quarters(128, 128))) < 3)
        #expect(part.picture.width == 100 && part.picture.height == 90)
        #expect(part.picture[10, 10] == whole.picture[10, 10])
    }

    @Test(
        "A grid that its tiles do not fill is damaged: the rest would be what the worker's memory held before"
    )
    func unfilled() async throws {
        await #expect(throws: RenderError.badImageData("a grid that its tiles do not fill")) {
            try await rendered(Fixtures.grids.unfilled)
        }
    }

    @Test("Where a tile is smaller than it says, nothing of other pictures is seen")
    func lying() async throws {
        var answers: Set<[UInt8]> = []
        for seed in 1..<6 {
            // Leaves memory behind that is full of something.
            let other = TestPicture(130, 130) { x, y in
                [UInt8(truncatingIfNeeded: x * seed * 7 + y * 13), 200, 99]
            }
            _ = try await rendered(try other.encoded(as: .avif))
            answers.insert(try await rendered(Fixtures.grids.lying).bytes)
        }

        #expect(answers.count == 1)
    }

    @Test("Grey of limited range is as dark and as bright as it was (ITU-T H.273)")
    func limitedGrey() async throws {
        let picture = try await rendered(Fixtures.limitedGrey).picture

        #expect(Int(picture[32, 1][0]) < 14 && Int(picture[32, 62][0]) > 241)
        #expect(Fixtures.limitedGrey.withUnsafeBytes { HEIFItems($0)?.isGreyOfLimitedRange } == true)
        #expect(Fixtures.heic.plain.withUnsafeBytes { HEIFItems($0)?.isGreyOfLimitedRange } == false)
    }

    @Test("Whatever is wrong in a file, its boxes are read to their end and no further")
    func damaged() {
        var random = SystemRandomNumberGenerator()
        for file in [Fixtures.grids.whole, Fixtures.limitedGrey, Fixtures.heic.clear] {
            for end in 0..<file.count {
                Array(file[..<end]).withUnsafeBytes { _ = HEIFItems($0)?.gridsAreFilled }
            }
            for _ in 0..<2_000 {
                var bytes = file
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    bytes[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
                }
                bytes.withUnsafeBytes {
                    let items = HEIFItems($0)
                    _ = (items?.gridsAreFilled, items?.isGreyOfLimitedRange)
                }
            }
        }
    }
}
