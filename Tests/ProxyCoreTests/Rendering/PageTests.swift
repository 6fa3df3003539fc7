// SPDX-License-Identifier: Apache-2.0

import Primitives
import TestSupport
import Testing

@testable import ImageTestSupport
@testable import Imaging

@Suite("Pages of one file that differ from the first")
struct PageTests {
    private struct Page {
        let width: Int
        let height: Int
        var orientation = 1
    }

    /// A grey TIFF without compression (TIFF 6.0 §4); black except a white pixel at the top left of each
    /// page.
    private static func tiff(_ pages: [Page]) -> [UInt8] {
        func little(_ value: Int, _ length: Int) -> [UInt8] {
            (0..<length).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        var file: [UInt8] = [0x49, 0x49, 0x2A, 0x00]
        for (index, page) in pages.enumerated() {
            let count = page.width * page.height
            let strip = file.count + 4
            file += little(strip + count + count % 2, 4)
            file += [255] + [UInt8](repeating: 0, count: count + count % 2 - 1)
            // Width, height, bits, compression, black is zero, strip, orientation, samples, rows and bytes of the strip.
            let tags = [
                (256, page.width), (257, page.height), (258, 8), (259, 1), (262, 1), (273, strip),
                (274, page.orientation), (277, 1), (278, page.height), (279, count),
            ]
            file += little(tags.count, 2)
            for (tag, value) in tags {
                file += little(tag, 2) + little(4, 2) + little(1, 4) + little(value, 4)
            }
            // The last directory has 0 as the offset of the next one.
            if index == pages.count - 1 { file += little(0, 4) }
        }
        return file
    }

    private func page(
        _ index: Int, of file: [UInt8], _ transform: String = "", maxPixels: Int = 50_000_000
    ) async throws -> (rendition: Rendition, picture: TestPicture, bytes: [UInt8]) {
        try await rendered(file, transform) { plan in
            plan.decodableFormats.append(.tiff)
            plan.frame = index
            plan.limits.sourcePixels = maxPixels
        }
    }

    @Test("The requested page has to be within the limits, not the first one")
    func limits() async throws {
        let file = Self.tiff([Page(width: 10, height: 10), Page(width: 300, height: 200)])

        #expect(try await page(0, of: file, maxPixels: 50_000).picture.width == 10)
        for text in ["", "resize:10x"] {
            await #expect(throws: RenderError.resultTooLarge("")) {
                try await page(1, of: file, text, maxPixels: 50_000)
            }
        }
        await #expect(throws: RenderError.resultTooLarge("")) {
            try await page(1, of: Fixtures.twoSizes, maxPixels: 20_000)
        }
    }

    @Test("The memory estimate is that of the page")
    func memory() async throws {
        let file = Self.tiff([Page(width: 10, height: 10), Page(width: 3_000, height: 1_000)])

        let small = try await page(0, of: file, "blur:2").rendition
        let large = try await page(1, of: file, "blur:2").rendition

        // At least two bytes per pixel.
        #expect(large.memory - small.memory >= 6_000_000)
        #expect(large.source == small.source && large.source.width == 10, "the source is the same")
    }

    @Test("A page has its own size and orientation")
    func sizes() async throws {
        let file = Self.tiff([
            Page(width: 60, height: 40), Page(width: 30, height: 20, orientation: 6),
            Page(width: 60, height: 40, orientation: 3),
        ])

        let turned = try await page(1, of: file).picture
        let around = try await page(2, of: file).picture
        let first = try await page(0, of: file).picture
        let heic = try await page(1, of: Fixtures.twoSizes).picture

        #expect(turned.width == 20 && turned.height == 30 && turned[19, 0][0] == 255)
        #expect(around.width == 60 && around[59, 39][0] == 255 && around[0, 0][0] == 0)
        #expect(first.width == 60 && first[0, 0][0] == 255)
        #expect(heic.width == 240 && heic.height == 120)
    }
}
