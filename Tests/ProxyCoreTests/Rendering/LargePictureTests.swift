// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ImageTestSupport
@testable import ProxyCore

@Suite("Large pictures in a worker", .serialized)
struct LargePictureTests {
    /// A lossless WebP of one half-transparent colour: codes of one symbol take no bits (RFC 9649
    /// §3.7.2.1.1).
    private static func webp(side: Int) -> [UInt8] {
        var bits: [Int] = []
        func add(_ value: Int, _ count: Int) { bits += (0..<count).map { value >> $0 & 1 } }
        add(side - 1, 14)
        add(side - 1, 14)
        // Alpha, the version, and neither transform, colour cache nor meta codes.
        add(1, 1)
        add(0, 3 + 3)
        // Green, red, blue and alpha as codes of one symbol of eight bits, then distances.
        for level in [40, 200, 90, 128] {
            add(0b101, 3)
            add(level, 8)
        }
        add(0b0001, 4)
        var body: [UInt8] = [0x2F]
        for start in stride(from: 0, to: bits.count, by: 8) {
            body.append(
                bits[start..<min(start + 8, bits.count)].enumerated().reduce(0) {
                    $0 | UInt8($1.element << $1.offset)
                })
        }
        if body.count % 2 == 1 { body.append(0) }
        func little(_ value: Int) -> [UInt8] { [0, 8, 16, 24].map { UInt8(value >> $0 & 0xFF) } }
        return Array("RIFF".utf8) + little(12 + body.count) + Array("WEBPVP8L".utf8) + little(body.count)
            + body
    }

    @Test("More pixels than libvips' default memory limit are read in full size")
    func beyondTemporaryFiles() async throws {
        try await WorkerPool.running { pool in
            let target = try RenderTarget()
            var plan = RenderPlan(
                pipeline: try TransformPipeline(parsing: "crop:40x30"), format: .explicit(.png))
            plan.limits.sourcePixels = 30_000_000

            // 108 MB with alpha; libvips would write more than 100 MiB to a file.
            let rendition = try await pool.render(
                plan, from: .bytes(Self.webp(side: 5_200)), into: target.file, at: 0)

            let found = try TestPicture(decoding: target.bytes(rendition))
            #expect(found == .plain(40, 30, [200, 40, 90, 128]))
            #expect(rendition.source.width == 5_200 && pool.statistics.restarts.isEmpty)
        }
    }

    @Test(
        "A job within its estimate has enough address space for its decoder", arguments: [true, false])
    func estimate(hasAlpha: Bool) throws {
        // Measured with 7000 × 7000 lossy: 488 MiB resident and 850 MiB of address space, with alpha 626 and
        // 1080.
        let header = ImageHeader(
            format: .webp, size: PixelSize(7_000, 7_000), frames: 1, hasAlpha: hasAlpha, orientation: 1)
        let plan = RenderPlan(format: .explicit(.jpeg))

        let estimate = MemoryEstimate(header: header, frames: 1, plan: plan, sourceBytes: 1 << 20).bytes >> 20

        #expect(estimate >= (hasAlpha ? 585 : 488) && 2 * estimate >= (hasAlpha ? 1_038 : 850))
        #expect(estimate < 900, "it fits the default worker")
    }
}
