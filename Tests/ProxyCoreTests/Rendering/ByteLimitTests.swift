// SPDX-License-Identifier: Apache-2.0

import Primitives
import TestSupport
import Testing

@testable import ImageTestSupport
@testable import Imaging

@Suite("Results with a maximum number of bytes")
struct ByteLimitTests {
    private static let photo = Fixtures.photo

    @Test("The best quality that fits is used", arguments: [ImageFormat.jpeg, .webp])
    func bestQuality(format: ImageFormat) async throws {
        let limit = 6_000
        let found = try await rendered(Self.photo, "resize:300x", as: .explicit(format)) {
            $0.maxBytes = limit
        }.bytes.count

        var sizes: [Int] = []
        for quality in stride(from: 2, through: 80, by: 6) {
            sizes.append(
                try await rendered(Self.photo, "resize:300x", as: .explicit(format)) {
                    $0.quality = quality
                    $0.metadata = .none
                }.bytes.count)
        }
        #expect(found <= limit)
        // Sizes need not grow with every step of quality; the search may end next to the best one.
        let best = try #require(sizes.filter { $0 <= limit }.max())
        #expect(found >= best - best / 10, "\(found), \(best)")
    }

    @Test("A result that fits is not changed")
    func fits() async throws {
        let plain = try await rendered(Self.photo, "resize:100x", as: .explicit(.jpeg))
        let limited = try await rendered(Self.photo, "resize:100x", as: .explicit(.jpeg)) {
            $0.maxBytes = plain.bytes.count
        }

        #expect(limited.bytes == plain.bytes)
    }

    @Test("PNG and GIF reduce their colours", arguments: [ImageFormat.png, .gif])
    func palette(format: ImageFormat) async throws {
        let plain = try await rendered(Self.photo, "resize:100x", as: .explicit(format))
        let limited = try await rendered(Self.photo, "resize:100x", as: .explicit(format)) {
            $0.maxBytes = plain.bytes.count * 2 / 3
        }

        #expect(limited.bytes.count <= plain.bytes.count * 2 / 3)
        #expect(limited.rendition.format == format && limited.rendition.width == 100)
    }

    @Test("A result that can't fit fails", arguments: [ImageFormat.jpeg, .webp, .avif, .png, .gif, .tiff])
    func nothingFits(format: ImageFormat) async throws {
        await #expect(throws: RenderError.tooManyBytes("")) {
            try await rendered(Self.photo, "resize:100x", as: .explicit(format)) { $0.maxBytes = 60 }
        }
    }
}
