// SPDX-License-Identifier: Apache-2.0

import Primitives
import TestSupport
import Testing

@testable import ImageTestSupport
@testable import Imaging

@Suite("Items of HEIF files")
struct HEIFItemsTests {
    @Test("A grid is assembled, and cut to its size (ISO/IEC 23008-12 §6.6.2.3)")
    func together() async throws {
        let whole = try await rendered(Fixtures.grids.whole)
        let part = try await rendered(Fixtures.grids.cut)

        #expect(try #require(whole.picture.meanDistance(to: .quarters(128, 128))) < 3)
        #expect(part.picture.width == 100 && part.picture.height == 90)
        #expect(part.picture[10, 10] == whole.picture[10, 10])
    }

    @Test(
        "A grid that its tiles do not fill is damaged: the rest would be uninitialized memory"
    )
    func unfilled() async throws {
        await #expect(throws: RenderError.badImageData("a grid that its tiles do not fill")) {
            try await rendered(Fixtures.grids.unfilled)
        }
    }

    @Test("A tile smaller than declared shows no pixels of other pictures")
    func lying() async throws {
        var answers: Set<[UInt8]> = []
        for seed in 1..<6 {
            // Leaves non-zero bytes in freed memory.
            let other = TestPicture(130, 130) { x, y in
                [UInt8(truncatingIfNeeded: x * seed * 7 + y * 13), 200, 99]
            }
            _ = try await rendered(try other.encoded(as: .avif))
            answers.insert(try await rendered(Fixtures.grids.lying).bytes)
        }

        #expect(answers.count == 1)
    }

    @Test("Grey of limited range keeps its levels (ITU-T H.273)")
    func limitedGrey() async throws {
        let picture = try await rendered(Fixtures.limitedGrey).picture

        #expect(Int(picture[32, 1][0]) < 14 && Int(picture[32, 62][0]) > 241)
        #expect(Fixtures.limitedGrey.withUnsafeBytes { HEIFItems($0)?.isGreyOfLimitedRange } == true)
        #expect(Fixtures.heic.plain.withUnsafeBytes { HEIFItems($0)?.isGreyOfLimitedRange } == false)
    }

    /// A file that describes its colours only in the bitstream.
    private func undescribed(_ file: [UInt8]) throws -> [UInt8] {
        let name = try #require(file.indices.first { file[$0...].starts(with: "colr".utf8) })
        return file[..<name] + Array("free".utf8) + file[(name + 4)...]
    }

    @Test(
        "Limited range is read from the bitstream if the file does not describe its colours (AV1 §5.5.2)")
    func undescribedGrey() async throws {
        let bare = try undescribed(Fixtures.limitedGrey)
        for (file, text) in [(bare, ""), (bare, "resize:32x"), (Fixtures.limitedGrey, "")] {
            let picture = try await rendered(file, text).picture

            #expect(Int(picture[9, 0][0]) < 8 && Int(picture[9, picture.height - 1][0]) > 247)
        }
    }

    @Test("Green, blue and red of limited range keep their levels (ITU-T H.273 §8.3)")
    func limitedGBR() async throws {
        for file in [Fixtures.limitedColors.gbr, try undescribed(Fixtures.limitedColors.gbr)] {
            let picture = try await rendered(file).picture

            for (place, color) in [
                ((0.1, 0.1), [255, 0, 0]), ((0.9, 0.1), [0, 255, 0]), ((0.1, 0.9), [0, 0, 255]),
                ((0.9, 0.9), [255, 255, 255]), ((0.5, 0.5), [128, 64, 200]),
            ] {
                #expect(picture.isNear(color, at: place, within: 3), "\(color)")
            }
        }
    }

    @Test("Alpha of limited range is opaque at its maximum, and transparent at its minimum")
    func limitedAlpha() async throws {
        let picture = try await rendered(Fixtures.limitedColors.alpha).picture

        for (x, alpha) in [(3, 255), (20, 128), (35, 0), (60, 255)] {
            #expect(abs(Int(picture[x, 3][3]) - alpha) <= 2, "\(x)")
        }
        #expect(picture.isNear([255, 0, 0, 255], at: (0.1, 0.1), within: 3))
    }

    @Test("A bitstream's header is read in its long and its short form (AV1 §5.5.1)")
    func sequenceHeaders() {
        func header(_ bytes: [UInt8]) -> AV1SequenceHeader? {
            bytes.withUnsafeBytes { AV1SequenceHeader(units: BoxReader($0)) }
        }
        // As ffmpeg makes libaom write grey: a temporal delimiter, then the header.
        let long: [UInt8] = [0x12, 0, 0x0A, 10, 0, 0, 0, 2, 0xAF, 0xFF, 0x9F, 0xFF, 0x34, 0x40]
        #expect(header(long).map { [$0.isFullRange ? 1 : 0, $0.matrix] } == [0, 2])
        for length in 0..<long.count { #expect(header(Array(long.prefix(length))) == nil, "\(length)") }

        // Profile 0 with timing, a decoder model, and one operating point.
        let zeros = { String(repeating: "0", count: $0) }
        let text = [
            "000", "0", "0", "1", zeros(64), "1", "00101", "1", "00100", zeros(42), "1", zeros(5), zeros(12),
            "01000", "1", "1", zeros(11), "1", "1111", "0101", "0101", zeros(12), "1", zeros(7), "000",
            "1111", "1", "00", "1", "1", "000", "000", "0", "0", "1", "00000001", "00000001", "00000000", "1",
        ].joined()
        for (range, wanted) in [("1", true), ("0", false)] {
            let bits = Array(text.dropLast() + range + zeros(16))
            let bytes = stride(from: 0, to: bits.count - 7, by: 8).map { start in
                bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 == "1" ? 1 : 0) }
            }
            let found = header([0x0A, UInt8(bytes.count)] + bytes)
            #expect(found?.isFullRange == wanted && found?.matrix == 0)
        }
    }

    @Test(
        "Alpha is rotated like the picture, with or without its own properties (ISO/IEC 23000-22 §7.3.5)")
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

    /// A file whose items have rotation and mirroring before their descriptive properties.
    private func disordered(_ file: [UInt8]) throws -> [UInt8] {
        let lists = try #require(file.withUnsafeBytes { HEIFItems($0)?.associations })
        var changed = file
        for list in lists.values {
            try #require(list.width == 1)
            let entries = list.entries.map { UInt8($0) }
            // Transformative properties are last.
            changed.replaceSubrange(
                list.countPlace + 1..<list.end, with: entries.suffix(2) + entries.dropLast(2))
        }
        return changed
    }

    @Test(
        "Properties may have any order: descriptive ones are applied before rotation",
        arguments: [Fixtures.alphas.unturned, Fixtures.alphas.unmirrored])
    func order(file: [UInt8]) async throws {
        let mixed = try disordered(file)
        #expect(mixed != file)
        for text in ["", "resize:24x"] {
            let wanted = try await rendered(file, text).picture
            #expect(try await rendered(mixed, text).picture == wanted)
        }
    }

    @Test("A picture may be as wide as the limit on sides, and no wider")
    func wide() async throws {
        let whole = try await rendered(Fixtures.wide)
        #expect(whole.picture.width == 30_000 && whole.picture.height == 1)
        #expect(whole.picture.isNear([9, 99, 200], at: (0.9, 0)))

        await #expect(throws: RenderError.tooManyPixels("")) {
            try await rendered(Fixtures.wide) { $0.limits.side = 29_999 }
        }
    }

    @Test("Bytes added for a rotated alpha are not counted as received")
    func countOfCompleted() throws {
        let source = try openedSource(Fixtures.alphas.unturned)
        var held = 0
        source.withBytes { held = $0.count }

        #expect(source.count == Fixtures.alphas.unturned.count && held > source.count)
    }

    @Test("Premultiplied colours are divided by alpha (ISO/IEC 23008-12 §6.6.3)")
    func premultiplied() async throws {
        for text in ["", "resize:32x"] {
            let picture = try await rendered(Fixtures.alphas.premultiplied, text).picture
            #expect(
                picture.isNear([255, 0, 0, 255], at: (0.1, 0.2))
                    && picture.isNear([0, 255, 0, 128], at: (0.8, 0.2)))
            #expect(picture.isNear([255, 255, 255, 128], at: (0.8, 0.8)))
        }
    }

    @Test("Boxes of a damaged file are read to their end and no further")
    func damaged() {
        var random = SystemRandomNumberGenerator()
        for file in [
            Fixtures.grids.whole, Fixtures.limitedGrey, Fixtures.heic.clear, Fixtures.alphas.unturned,
            Fixtures.limitedColors.alpha,
        ] {
            let isRead = (0...file.count).map { end in
                Array(file[..<end]).withUnsafeBytes {
                    _ = (HEIFItems($0)?.gridsAreFilled, HEIFItems($0)?.levels, HEIFAlpha.completed($0))
                    return HEIFItems($0) != nil
                }
            }
            #expect(isRead.first == false && isRead.last == true)
            for _ in 0..<2_000 {
                var bytes = file
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    bytes[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
                }
                bytes.withUnsafeBytes {
                    let items = HEIFItems($0)
                    _ = (items?.gridsAreFilled, items?.levels)
                    _ = HEIFAlpha.completed($0)
                }
            }
        }
    }
}

extension TestPicture {
    /// Whether the pixel at these fractions of the sides approximates a colour.
    fileprivate func isNear(_ color: [Int], at place: (Double, Double), within limit: Int = 8) -> Bool {
        let pixel = self[Int(Double(width) * place.0), Int(Double(height) * place.1)]
        return pixel.count == color.count && zip(pixel, color).allSatisfy { abs(Int($0) - $1) <= limit }
    }
}
