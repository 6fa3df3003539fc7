// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import Bodies
@testable import ImageTestSupport
@testable import Imaging
@testable import Primitives
@testable import Rendering

@Suite("Admission of jobs", .serialized)
struct AdmissionTests {
    private static let source = StoredBody.bytes((try? TestPicture.ramps(64, 48).encoded(as: .png)) ?? [])

    private func withPool(
        by time: ManualTime? = nil,
        _ change: (inout TransformConfiguration) -> Void = { _ in }, _ body: (WorkerPool) async throws -> Void
    ) async throws {
        try await WorkerPool.running(
            by: time,
            { configuration in
                configuration.workers = 2
                change(&configuration)
            }, body)
    }

    private func render(
        _ pool: WorkerPool, _ transform: String = "resize:32x", as format: ImageFormat = .png,
        from source: StoredBody = source
    ) async throws(RenderError) -> Rendition {
        let plan: RenderPlan
        do {
            plan = RenderPlan(pipeline: try TransformPipeline(parsing: transform), format: .explicit(format))
        } catch {
            throw .unavailable("\(error)")
        }
        return try await render(pool, plan, from: source)
    }

    private func render(
        _ pool: WorkerPool, _ plan: RenderPlan, from source: StoredBody = source
    ) async throws(RenderError) -> Rendition {
        let target: RenderTarget
        do { target = try RenderTarget() } catch { throw .unavailable("\(error)") }
        return try await pool.render(plan, from: source, into: target.file, at: 0)
    }

    @Test("With memory for one job at a time, many jobs run one after the other")
    func oneAtATime() async throws {
        try await withPool({ $0.memoryBudget = ByteCount(1) }) { pool in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 { group.addTask { try await render(pool).width } }
                for try await width in group { #expect(width == 32) }
            }
            #expect(pool.statistics.memoryInUse == 0 && pool.statistics.restarts.isEmpty)
        }
    }

    @Test("A job that does not get its memory in time fails, and its worker survives")
    func noMemoryInTime() async throws {
        let time = ManualTime()
        try await withPool(
            by: time,
            {
                $0.memoryBudget = ByteCount(1)
                $0.timeout = .hours(1)
            }
        ) { pool in
            let plan = try RenderPlan.endless()
            let long = await pool.begin {
                try await render(pool, plan)
            } until: {
                $0.memoryInUse > 0
            }
            // A job that is stopped keeps its memory for as long as the test needs.
            let workers = pool.statistics.processIdentifiers
            for pid in workers { kill(pid, SIGSTOP) }
            try #require(pool.statistics.memoryInUse > 0)
            let holder = try #require(try workers.max { try openFiles(of: $0) < openFiles(of: $1) })
            for pid in workers where pid != holder { kill(pid, SIGCONT) }

            let waiting = await pool.begin {
                try await render(pool)
            } until: {
                $0.busy == 2
            }
            await pool.pass(.seconds(60), of: time)
            await #expect(throws: RenderError.queueTimedOut) { try await waiting.value }

            long.cancel()
            _ = try? await long.value
            #expect(try await render(pool).width == 32)
            #expect(pool.statistics.restarts == [.cancelled: 1])
        }
    }

    /// The number of files that a process has open: a worker has those of its job besides.
    private func openFiles(of pid: Int32) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
    }

    @Test("A job that needs more than a worker may have is refused before a pixel is decoded")
    func tooMuch() async throws {
        try await withPool { pool in
            await #expect(throws: RenderError.outOfMemory) {
                try await render(pool, "resize:7000x7000:fill:enlarge=1", as: .avif)
            }
            #expect(pool.statistics.restarts.isEmpty)
        }
    }

    // MARK: - Bombs

    /// Small files whose headers declare as many pixels as their format can.
    private static func bombs() throws -> [(ImageFormat, [UInt8])] {
        let picture = TestPicture.ramps(64, 48)
        var png = try picture.encoded(as: .png)
        png.replaceSubrange(16..<24, with: [0, 1, 0, 0, 0, 1, 0, 0])
        png.replaceSubrange(29..<33, with: checksum(png[12..<29]))
        var gif = try picture.encoded(as: .gif)
        let place = try #require(
            gif.indices.dropLast(9).first { Array(gif[$0..<$0 + 9]) == [0x2C, 0, 0, 0, 0, 64, 0, 48, 0] })
        gif.replaceSubrange(place + 5..<place + 9, with: [255, 255, 255, 255])
        gif.replaceSubrange(6..<10, with: [255, 255, 255, 255])
        var jpeg = try picture.encoded(as: .jpeg)
        let frame = try #require(
            jpeg.indices.first { jpeg[$0] == 0xFF && [0xC0, 0xC2].contains(jpeg[$0 + 1]) })
        jpeg.replaceSubrange(frame + 5..<frame + 9, with: [0xFF, 0xDC, 0xFF, 0xDC])
        var webp = try picture.encoded(as: .webp)
        let lossless = try #require(
            webp.indices.dropLast(5).first { Array(webp[$0..<$0 + 4]) == Array("VP8L".utf8) })
        webp.replaceSubrange(lossless + 9..<lossless + 12, with: [0xFF, 0xFF, 0xFF])
        var avif = try picture.encoded(as: .avif)
        let size = try #require(
            avif.indices.dropLast(5).first { Array(avif[$0..<$0 + 4]) == Array("ispe".utf8) })
        avif.replaceSubrange(size + 8..<size + 16, with: [0, 0, 0x7F, 0xFF, 0, 0, 0x7F, 0xFF])
        return [(.png, png), (.gif, gif), (.jpeg, jpeg), (.webp, webp), (.avif, avif)]
    }

    /// CRC-32 of a PNG chunk (PNG, Annex D).
    private static func checksum(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: ~crc >> UInt32($0)) }
    }

    @Test("A bomb of any format is refused, and its worker has not grown beyond 200 MB")
    func bombs() async throws {
        try await withPool({ $0.workers = 1 }) { pool in
            for (format, bomb) in try Self.bombs() {
                #expect(ImageFormat(sniffing: bomb) == format)
                let error = await #expect(throws: RenderError.self, "\(format)") {
                    try await render(pool, from: .bytes(bomb))
                }
                let isRefused =
                    switch error {
                    case .tooManyPixels, .badImageData: true
                    default: false
                    }
                #expect(isRefused, "\(format): \(String(describing: error))")
            }
            #expect(pool.statistics.restarts.isEmpty)
            let pid = try #require(pool.statistics.processIdentifiers.first)
            let peak = try peakKibibytes(of: pid)
            #expect(peak > 0 && peak < 200_000, "\(peak) KiB")
        }
    }

    /// The most memory that a process has had (proc(5), VmHWM).
    private func peakKibibytes(of pid: Int32) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    // MARK: - Too large, and requested all the same

    private func renderedLarge(
        _ transform: String, from format: ImageFormat, _ change: (inout RenderPlan) -> Void = { _ in }
    ) async throws -> (rendition: Rendition, picture: TestPicture) {
        let large = try TestPicture.ramps(400, 200).encoded(as: format)
        let (rendition, picture, _) = try await rendered(large, transform) { plan in
            plan.limits.sourcePixels = 20_000
            plan.scalesDownLarge = true
            change(&plan)
        }
        return (rendition, picture)
    }

    @Test(
        "A source with too many pixels is shrunk first if the request says so",
        arguments: [ImageFormat.jpeg, .png, .webp])
    func scaledDown(format: ImageFormat) async throws {
        let plain = try await renderedLarge("", from: format)
        #expect(plain.rendition.width == 200 && plain.rendition.height == 100)
        #expect(try #require(plain.picture.meanDistance(to: .ramps(200, 100))) < 3)
        #expect(plain.rendition.source.width == 400)

        let small = try await renderedLarge("resize:50x", from: format)
        #expect(small.rendition.width == 50 && small.rendition.height == 25)

        let cut = try await renderedLarge("crop:100x100:x=0:y=0", from: format)
        #expect(cut.rendition.width == 100 && cut.rendition.height == 100)
    }

    @Test(
        "What depends on the picture's size means the shrunk one, however small the result is",
        arguments: [
            ("resize:50pcx", 100), ("resize:10pcx", 20), ("resize:zoomx=0.1:zoomy=0.1", 20),
            ("resize:30x30:fill:bound=source", 30),
        ])
    func relativeToShrunk(transform: String, width: Int) async throws {
        let made = try await renderedLarge(transform, from: .jpeg)
        #expect(made.rendition.width == width)
    }

    @Test("It is shrunk to the pixels of a result where those are fewer, whatever the first operation is")
    func scaledDownToResult() async throws {
        let small = try await renderedLarge("flip:h,resize:50x", from: .jpeg) { plan in
            plan.limits.sourcePixels = 40_000
            plan.limits.outputPixels = 20_000
        }

        #expect(small.rendition.width == 50 && small.rendition.height == 25)
    }

    @Test("A result is bounded all the same", arguments: ["extend:350x10", "resize:350x10:fill"])
    func scaledDownIsBounded(transform: String) async throws {
        await #expect(throws: RenderError.resultTooLarge("")) {
            try await renderedLarge(transform, from: .jpeg) { $0.limits.side = 300 }
        }
        let plain = try await renderedLarge("", from: .jpeg) { $0.limits.side = 150 }

        #expect(plain.rendition.width == 150 && plain.rendition.height == 75)
    }

    @Test("A source that its decoder must hold as a whole is not shrunk, nor one without the request")
    func notScaledDown() async throws {
        await #expect(throws: RenderError.tooManyPixels("")) {
            try await renderedLarge("", from: .gif)
        }
        await #expect(throws: RenderError.tooManyPixels("")) {
            try await renderedLarge("", from: .jpeg) { $0.scalesDownLarge = false }
        }
    }
}
