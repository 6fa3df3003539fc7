// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Imaging
@testable import Primitives
@testable import Rendering

@Suite("Memory for pixels")
struct MemoryBudgetTests {
    /// A budget as a class, whose changes `#expect` can make.
    private final class BudgetFixture {
        private var budget: MemoryBudget

        init(total: Int) { budget = MemoryBudget(total: total) }

        var sum: Int { budget.sum }
        var next: Int? { budget.next }

        func grant(_ bytes: Int, to slot: Int, for client: UInt32 = 0) -> Bool {
            budget.grant(bytes, to: slot, for: [ClientID(v4: client)])
        }
        func release(_ slot: Int) -> Int? { budget.release(slot) }
    }

    @Test("What fits is granted; what does not waits until enough is released")
    func waiting() {
        let budget = BudgetFixture(total: 100)

        #expect(budget.grant(60, to: 0))
        #expect(!budget.grant(60, to: 1))
        #expect(budget.release(0) == 1)
        #expect(budget.grant(60, to: 1))
        #expect(budget.sum == 60 && budget.next == nil)
    }

    @Test("No request is overtaken: a small job waits behind a large one that came first")
    func order() {
        let budget = BudgetFixture(total: 100)

        #expect(budget.grant(60, to: 0))
        #expect(!budget.grant(60, to: 1))
        #expect(!budget.grant(10, to: 2))
        #expect(budget.release(0) == 1)
        #expect(!budget.grant(10, to: 2))
        #expect(budget.grant(60, to: 1))
        #expect(budget.grant(10, to: 2))
    }

    @Test("A client that holds memory waits for more behind a client that holds none, whose job fits")
    func otherClients() {
        let budget = BudgetFixture(total: 100)

        #expect(budget.grant(60, to: 0, for: 1))
        #expect(!budget.grant(60, to: 1, for: 1))
        #expect(
            budget.grant(10, to: 2, for: 2), "the second large job of the first client delays no other client"
        )
        #expect(budget.next == 1)
        #expect(budget.release(0) == 1)
        #expect(budget.grant(60, to: 1, for: 1))
    }

    @Test("A job larger than the total runs alone, so that it does not wait for ever")
    func alone() {
        let budget = BudgetFixture(total: 100)

        #expect(budget.grant(500, to: 0))
        #expect(!budget.grant(1, to: 1))
        #expect(budget.release(0) == 1)
        #expect(budget.grant(1, to: 1))
    }

    @Test("A cancelled request blocks no other")
    func leaving() {
        let budget = BudgetFixture(total: 100)

        #expect(budget.grant(60, to: 0))
        #expect(!budget.grant(60, to: 1))
        #expect(!budget.grant(40, to: 2))
        #expect(budget.release(1) == 2)
        #expect(budget.grant(40, to: 2))
    }

    /// A job on a photo of 4000 × 3000, and the memory that `bench-memory` measured, in MiB.
    struct Measured: CustomTestStringConvertible {
        let format: ImageFormat
        let sourceMiB: Double
        let transform: String
        let output: ImageFormat
        let resident: Int
        var mustBeHeldWhole = false

        init(
            _ format: ImageFormat, _ sourceMiB: Double, _ transform: String, _ output: ImageFormat,
            _ resident: Int, mustBeHeldWhole: Bool = false
        ) {
            self.format = format
            self.sourceMiB = sourceMiB
            self.transform = transform
            self.output = output
            self.resident = resident
            self.mustBeHeldWhole = mustBeHeldWhole
        }

        var testDescription: String { "\(format) \(transform) → \(output)" }
    }

    @Test(
        "An estimate is at least what was measured, and at most twice as much",
        arguments: [
            Measured(.jpeg, 1.9, "resize:800x", .jpeg, 9), Measured(.jpeg, 1.9, "", .jpeg, 47),
            Measured(.jpeg, 1.9, "flip:v", .jpeg, 76), Measured(.jpeg, 1.9, "resize:800x", .avif, 26),
            Measured(.jpeg, 1.9, "", .webp, 79), Measured(.jpeg, 1.9, "", .avif, 249),
            Measured(.jpeg, 1.9, "", .gif, 143), Measured(.jpeg, 1.9, "rotate:30", .jpeg, 120),
            Measured(.jpeg, 1.9, "blur:20", .jpeg, 83), Measured(.jpeg, 1.9, "trim", .jpeg, 76),
            Measured(.jpeg, 1.9, "pixelate:20", .jpeg, 78),
            Measured(.jpeg, 1.8, "resize:800x", .jpeg, 44, mustBeHeldWhole: true),
            Measured(.png, 21.1, "resize:800x", .jpeg, 44), Measured(.png, 21.1, "", .jpeg, 66),
            Measured(.png, 23.5, "resize:800x", .jpeg, 54),
            Measured(.png, 23, "resize:800x", .jpeg, 75, mustBeHeldWhole: true),
            Measured(.webp, 1.1, "", .jpeg, 127), Measured(.webp, 8.5, "", .jpeg, 134, mustBeHeldWhole: true),
            Measured(.webp, 8.5, "resize:800x", .jpeg, 58, mustBeHeldWhole: true),
            Measured(.webp, 1.1, "resize:800x", .jpeg, 10), Measured(.avif, 0.6, "resize:800x", .jpeg, 91),
            Measured(.avif, 0.6, "", .jpeg, 109), Measured(.heic, 1.8, "resize:800x", .jpeg, 101),
            Measured(.gif, 7.3, "resize:800x", .jpeg, 76), Measured(.gif, 7.3, "", .jpeg, 98),
            Measured(.tiff, 12.2, "resize:800x", .jpeg, 37), Measured(.jxl, 0.8, "resize:800x", .jpeg, 92),
        ])
    func estimate(measured: Measured) throws {
        let header = ImageHeader(
            format: measured.format, size: PixelSize(4_000, 3_000), frames: 1, hasAlpha: false,
            orientation: 1,
            mustBeHeldWhole: measured.mustBeHeldWhole)
        let pipeline =
            try measured.transform.isEmpty
            ? TransformPipeline() : TransformPipeline(parsing: measured.transform)
        let plan = RenderPlan(pipeline: pipeline, format: .explicit(measured.output))
        let estimate = MemoryEstimate(
            header: header, frames: 1, plan: plan, sourceBytes: Int(measured.sourceMiB * 1_048_576))

        // In addition to twice the measured, what a job takes that does next to nothing.
        #expect(
            (measured.resident...measured.resident * 2 + 8).contains(estimate.bytes >> 20),
            "\(estimate.bytes >> 20)")
    }

    @Test("What a later operation makes larger counts, up to the limit at which it fails")
    func growth() throws {
        let header = ImageHeader(
            format: .png, size: PixelSize(10, 10), frames: 1, hasAlpha: false, orientation: 1)
        func bytes(_ transform: String) throws -> Int {
            let plan = RenderPlan(
                pipeline: try TransformPipeline(parsing: transform), format: .explicit(.webp))
            return MemoryEstimate(header: header, frames: 1, plan: plan, sourceBytes: 100).bytes
        }

        #expect(try bytes("flip:h,resize:7000x7000:fill:enlarge=1,blur:5") > 4 * 49_000_000)
        #expect(try bytes("flip:h,resize:90000x90000:fill:enlarge=1,blur:5") == bytes("flip:h,blur:5"))
        #expect(try bytes("extend:6900x6900") > 4 * 47_000_000, "the first operation counts, too")
        let beyond = ":cover:enlarge=1:zoomx=100:zoomy=100:density=100"
        #expect(try bytes("flip:h,resize:100000x100000\(beyond)") == bytes("flip:h"))
        let lines = Base64.encodeURL("W\(String(repeating: "\n", count: 50))W".utf8)
        #expect(try bytes("extend:9000x10,text:size=40:text64=\(lines)") > 6 * 27_000_000)
    }

    @Test("A turned original and a cover count with the sizes that the operations work on")
    func sizes() throws {
        func bytes(_ width: Int, _ height: Int, _ orientation: Int, _ transform: String) throws -> Int {
            let header = ImageHeader(
                format: .png, size: PixelSize(width, height), frames: 1, hasAlpha: false,
                orientation: orientation)
            let plan = RenderPlan(
                pipeline: try TransformPipeline(parsing: transform), format: .explicit(.webp))
            return MemoryEstimate(header: header, frames: 1, plan: plan, sourceBytes: 100).bytes
        }

        let turned = try bytes(1_600, 400, 6, "flip:h,resize:3000x:enlarge=1")
        #expect(turned > 4 * 36_000_000)
        #expect(try bytes(10_000, 100, 1, "resize:100x100:cover,resize:7000x:enlarge=1") > 4 * 49_000_000)
    }
}
