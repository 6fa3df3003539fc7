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

    @Test(
        "Transparency turns as the picture does, whether or not that is said of it (ISO/IEC 23000-22 §7.3.5)")
    func turnedAlpha() async throws {
        for text in ["", "resize:24x"] {
            let turned = try await rendered(Fixtures.alphas.unturned, text).picture
            #expect(turned.height * 3 == turned.width * 4 && turned.bands == 4)
            #expect(
                turned.isNear([0, 255, 0, 128], at: (0.1, 0.1))
                    && turned.isNear([255, 255, 255, 128], at: (0.9, 0.1)))
            #expect(
                turned.isNear([255, 0, 0, 255], at: (0.1, 0.9))
                    && turned.isNear([0, 0, 255, 255], at: (0.9, 0.9)))

            let mirrored = try await rendered(Fixtures.alphas.unmirrored, text).picture
            #expect(
                mirrored.isNear([0, 0, 255, 255], at: (0.1, 0.1))
                    && mirrored.isNear([255, 0, 0, 255], at: (0.1, 0.9)))
            #expect(mirrored.isNear([255, 255, 255, 128], at: (0.9, 0.1)))
        }
    }

    @Test("What is added for a turned transparency is not counted among the bytes that came")
    func countOfCompleted() throws {
        let source = try openedSource(Fixtures.alphas.unturned)
        var held = 0
        source.withBytes { held = $0.count }

        #expect(source.count == Fixtures.alphas.unturned.count && held > source.count)
    }

    @Test("Colours that are multiplied by alpha are divided by it (ISO/IEC 23008-12 §6.6.3)")
    func premultiplied() async throws {
        for text in ["", "resize:32x"] {
            let picture = try await rendered(Fixtures.alphas.premultiplied, text).picture
            #expect(
                picture.isNear([255, 0, 0, 255], at: (0.1, 0.2))
                    && picture.isNear([0, 255, 0, 128], at: (0.8, 0.2)))
            #expect(picture.isNear([255, 255, 255, 128], at: (0.8, 0.8)))
        }
    }

    @Test("Whatever is wrong in a file, its boxes are read to their end and no further")
    func damaged() {
        var random = SystemRandomNumberGenerator()
        for file in [
            Fixtures.grids.whole, Fixtures.limitedGrey, Fixtures.heic.clear, Fixtures.alphas.unturned,
        ] {
            for end in 0..<file.count {
                Array(file[..<end]).withUnsafeBytes {
                    _ = (HEIFItems($0)?.gridsAreFilled, HEIFAlpha.completed($0))
                }
            }
            for _ in 0..<2_000 {
                var bytes = file
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    bytes[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
                }
                bytes.withUnsafeBytes {
                    let items = HEIFItems($0)
                    _ = (items?.gridsAreFilled, items?.isGreyOfLimitedRange, items?.isPremultiplied)
                    _ = HEIFAlpha.completed($0)
                }
            }
        }
    }
}

extension TestPicture {
    /// Whether the pixel at this share of the sides is nearly of a colour.
    fileprivate func isNear(_ color: [Int], at place: (Double, Double)) -> Bool {
        let pixel = self[Int(Double(width) * place.0), Int(Double(height) * place.1)]
        return pixel.count == color.count && zip(pixel, color).allSatisfy { abs(Int($0) - $1) <= 8 }
    }
}
