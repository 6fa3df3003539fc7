// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ImageTestSupport
@testable import ProxyCore

@Suite("The automatic choice for drawings")
struct DrawingChoiceTests {
    /// Lines of little rectangles, as letters are: two colours, and the steps between them at the edges.
    private static let page = TestPicture(480, 320) { x, y in
        let isInk = y % 16 < 9 && x % 9 < 6 && (x / 9 * 7 + y / 16 * 5) % 4 > 0 && (x + y) % 5 > 0
        return isInk ? [20, 24, 60] : [250, 250, 246]
    }

    /// As many colours as a drawing may have, all of which a table of 8,192 slots would put into one, without flat runs.
    private static let colliding: TestPicture = {
        let colors = (0..<UInt32(1 << 24)).lazy.filter { ($0 &* 2_654_435_761) >> 19 == 77 }.prefix(2_000)
        let all = Array(colors)
        return TestPicture(600, 200) { x, y in
            let color = all[(x / 3 + y * 200) % all.count]
            return [UInt8(color >> 16), UInt8(color >> 8 & 255), UInt8(color & 255)]
        }
    }()

    private func rendition(
        of picture: TestPicture, _ accepted: [ImageFormat], _ change: (inout RenderPlan) -> Void = { _ in }
    ) async throws -> (rendition: Rendition, picture: TestPicture, bytes: [UInt8]) {
        try await rendered(picture.encoded(as: .png), as: .automatic(accepted), change)
    }

    @Test("A page of text becomes lossless WebP, exact and smaller than in the other format")
    func text() async throws {
        let (rendition, picture, bytes) = try await rendition(of: Self.page, [.avif, .webp])
        let avif = try await rendered(Self.page.encoded(as: .png), as: .explicit(.avif))

        #expect(rendition.format == .webp)
        #expect(picture == Self.page)
        #expect(bytes.count < avif.bytes.count)
    }

    @Test(
        "Lossless WebP is chosen only if the client accepts WebP and the request sets neither format nor size"
    )
    func wanted() async throws {
        #expect(try await rendition(of: Self.page, [.avif]).rendition.format == .avif)
        #expect(
            try await rendition(of: Self.page, [.avif, .webp]) { $0.maxBytes = 1 << 20 }.rendition.format
                == .avif)
        let explicit = try await rendered(Self.page.encoded(as: .png), as: .explicit(.avif))
        #expect(explicit.rendition.format == .avif)
        let lossy = try await rendition(of: Self.page, [.webp])
        #expect(lossy.rendition.format == .webp && lossy.picture == Self.page)
    }

    @Test(
        "Photos are not affected, nor pictures of many colours or without flat runs"
    )
    func photos() async throws {
        let photo = try await rendered(Fixtures.photo, "resize:400x", as: .automatic([.avif, .webp]))
        let direct = try await rendered(Fixtures.photo, "resize:400x", as: .explicit(.avif))
        #expect(photo.rendition.format == .avif && photo.bytes == direct.bytes)

        let restless = TestPicture(200, 100) { x, y in [UInt8((x * 7 + y * 13) % 32 * 8), 0, 0] }
        #expect(try !restless.image().isFlat)
        let rich = TestPicture(300, 200) { x, y in [UInt8(x / 6 * 5), UInt8(y), UInt8((x / 6 + y) % 256)] }
        #expect(try !rich.image().isFlat)
        let grey = TestPicture(200, 100, bands: 1) { x, y in [UInt8((x / 3 * 5 + y) % 256)] }
        #expect(
            try !grey.image().isFlat, "two of three are like their left neighbours: a grey photo may be so")
        #expect(try Self.page.image().isFlat)
    }

    @Test("Colours that collide in one slot of the table do not make the choice slow")
    func collisions() throws {
        #expect(try !Self.colliding.image().isFlat)
    }
}
