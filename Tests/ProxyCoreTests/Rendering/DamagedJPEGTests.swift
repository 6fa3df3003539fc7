// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Bodies
@testable import ImageTestSupport
@testable import Imaging
@testable import Rendering

@Suite("JPEGs whose decoder only warns", .serialized)
struct DamagedJPEGTests {
    /// The position of a code's first marker from `start` on.
    private func marker(_ code: UInt8, in file: [UInt8], from start: Int = 2) -> Int? {
        (start..<file.count - 1).first { file[$0] == 0xFF && file[$0 + 1] == code }
    }

    /// Extra bytes before the frame's header, for which decoders give a harmless warning.
    private func withJunk(_ file: [UInt8]) throws -> [UInt8] {
        let frame = try #require([0xC0, 0xC2].compactMap { marker($0, in: file) }.min())
        return file[..<frame] + Array("junk".utf8) + file[frame...]
    }

    private func encoded(isProgressive: Bool) throws -> [UInt8] {
        let noise = TestPicture(160, 120) { x, y in
            let value = (x &* 2_654_435_761 ^ y &* 40_503 ^ (x &* y)) & 0xFFFF
            return [UInt8(value & 255), UInt8(value >> 8), UInt8((x * y) & 255)]
        }
        let settings = EncodeSettings(
            format: .jpeg, quality: 85, isLossless: false, isProgressive: isProgressive, metadata: .none)
        return try VipsCoder.encode(noise.image(), settings).withBytes { Array($0) }
    }

    /// The second plan's decoder shrinks by eight.
    @Test(
        "A harmless warning hides no damage: every warning is checked", arguments: [false, true],
        ["invert", "resize:20x15"])
    func hidden(isProgressive: Bool, transform: String) async throws {
        let plan = try RenderPlan(pipeline: TransformPipeline(parsing: transform), format: .explicit(.png))
        let whole = try encoded(isProgressive: isProgressive)
        let scan = try #require(marker(0xDA, in: whole))
        // Ends within its codes, which the decoder then invents.
        let cut = Array(whole[..<((scan + whole.count) / 2)]) + [0xFF, 0xD9]
        let harmless = [whole, try withJunk(whole), whole.dropLast(2) + [0, 0, 0, 0, 0xFF, 0xD9]]
        let damaged = [cut, try withJunk(cut)]

        try await WorkerPool.running { pool in
            for source in harmless {
                let target = try RenderTarget()
                let rendition = try await pool.render(
                    plan, from: .bytes(source), into: target.file, at: 0)
                #expect(rendition.width == (transform == "invert" ? 160 : 20))
            }
            for source in damaged {
                await #expect {
                    try await pool.render(plan, from: .bytes(source), into: RenderTarget().file, at: 0)
                } throws: {
                    if case .badImageData? = $0 as? RenderError { true } else { false }
                }
            }
            #expect(pool.statistics.restarts.isEmpty)
        }
    }

    /// Sixteen bits of ones in the middle are no code of any table (ITU-T T.81 §C).
    private func withInvalidCodes(_ file: [UInt8]) throws -> [UInt8] {
        let middle = try (#require(marker(0xDA, in: file)) + file.count) / 2
        let ones = [UInt8]((0..<60).flatMap { _ in [0xFF, 0] as [UInt8] })
        return Array(file[..<middle]) + ones + Array(file[(middle + ones.count)...])
    }

    @Test("Invalid codes are damage, also after a harmless warning")
    func badCodes() throws {
        let whole = try withJunk(encoded(isProgressive: false))
        let damaged = try withInvalidCodes(whole)

        #expect(try openedSource(whole).damageBehindWarnings == nil)
        #expect(try openedSource(damaged).damageBehindWarnings?.contains("bad Huffman code") == true)
    }

    @Test("Invalid codes are damage where the decoder shrinks by eight")
    func badCodesAtAnEighth() async throws {
        let plan = try RenderPlan(
            pipeline: TransformPipeline(parsing: "resize:20x15"), format: .explicit(.png))
        let damaged = try withInvalidCodes(encoded(isProgressive: false))

        try await WorkerPool.running { pool in
            await #expect(throws: RenderError.badImageData("bad Huffman code")) {
                try await pool.render(plan, from: .bytes(damaged), into: RenderTarget().file, at: 0)
            }
        }
    }

    @Test("Bytes between two scans beyond padding are damage (ITU-T T.81 §B.2)")
    func betweenScans() throws {
        let whole = try encoded(isProgressive: true)
        let first = try #require(marker(0xDA, in: whole))
        let next = try #require(marker(0xC4, in: whole, from: first + 2))
        // libjpeg does not count the bytes that it has read ahead, of which there are up to eight.
        for (count, isDamaged) in [(0, false), (8, false), (17, true), (300, true)] {
            let file = Array(whole[..<next]) + [UInt8](repeating: 1, count: count) + Array(whole[next...])

            let found = try openedSource(file).damageBehindWarnings
            #expect((found != nil) == isDamaged, "\(count) bytes: \(found ?? "none")")
        }
    }

    @Test("Other formats have no damage, and a truncated JPEG has only that")
    func otherFiles() throws {
        let whole = try encoded(isProgressive: false)
        #expect(try openedSource(TestPicture.ramps(8, 8).encoded(as: .png)).damageBehindWarnings == nil)
        for length in stride(from: 3, to: whole.count - 2, by: 211) {
            #expect(try openedSource(Array(whole.prefix(length))).damageBehindWarnings != nil, "\(length)")
        }
    }
}
