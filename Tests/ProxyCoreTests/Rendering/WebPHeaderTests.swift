// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ImageTestSupport
@testable import ProxyCore

@Suite("Headers of WebP files")
struct WebPHeaderTests {
    private func header(_ bytes: [UInt8]) -> WebPHeader? {
        bytes.withUnsafeBytes { WebPHeader($0) }
    }

    /// A still with this number of bands, and an animation.
    private static func files() throws -> [(name: String, bytes: [UInt8])] {
        let opaque = TestPicture.ramps(61, 33)
        let clear = TestPicture(61, 33, bands: 4) { x, y in [UInt8(x * 4), 90, UInt8(y * 6), UInt8(x * 4)] }
        let roll = try TestPicture.ramps(20, 30).image()
        roll.setFrames(3, height: 10, timing: AnimationTiming(delays: [50, 60, 70], loop: 0))
        return [
            ("lossless", try opaque.encoded(as: .webp)),
            ("lossless with alpha", try clear.encoded(as: .webp)),
            ("turned", try opaque.encoded(as: .webp, orientation: 6)),
            ("animation", try TestPicture.bytes(of: roll, as: .webp)),
        ]
    }

    @Test("The header is read as libvips reads it")
    func agreement() throws {
        for file in try Self.files() {
            let found = try #require(header(file.bytes), "\(file.name)")
            let image = try VipsCoder.open(
                openedSource(file.bytes), as: .webp, frames: .primary, shrink: .none)
            #expect(found.size == image.size, "\(file.name)")
            #expect(found.frames == image.pagesInSource, "\(file.name)")
            #expect(found.hasAlpha == image.hasAlpha, "\(file.name)")
            #expect(found.orientation == image.orientation, "\(file.name)")
        }
    }

    @Test("A lossy still's size is read from its frame (RFC 6386 §9.1)")
    func lossy() {
        let file =
            Array("RIFF\0\0\0\0WEBPVP8 ".utf8) + [
                10, 0, 0, 0, 0, 0, 0, 0x9D, 1, 0x2A, 0x40, 0x41, 0xD5, 0x40,
            ]

        #expect(header(file)?.size == PixelSize(320, 213))
    }

    @Test("A truncated header is absent, or the same")
    func cut() throws {
        for file in try Self.files() {
            let whole = try #require(header(file.bytes))
            for length in 0..<min(60, file.bytes.count) {
                guard let part = header(Array(file.bytes.prefix(length))) else { continue }
                #expect(part.size == whole.size, "\(file.name), \(length)")
            }
        }
    }

    @Test("A WebP at the pixel limit is decoded, however little memory a header may take")
    func large() async throws {
        let large = try TestPicture.plain(5_000, 4_000, [10, 20, 30]).encoded(as: .webp)

        try await withHeaderMemory(.mebibytes(64)) { pool in
            let target = try RenderTarget()
            let plan = RenderPlan(
                pipeline: try TransformPipeline(parsing: "resize:50x"), format: .explicit(.png))
            let rendition = try await pool.render(plan, from: .bytes(large), into: target.file, at: 0)
            #expect(rendition.width == 50 && rendition.source.width == 5_000)
        }
    }

    private func withHeaderMemory(_ bytes: ByteCount, _ body: (WorkerPool) async throws -> Void) async throws
    {
        try await WorkerPool.running(
            { configuration in
                configuration.headerMemory = bytes
                configuration.headerTime = .seconds(20)
            }, body)
    }
}
