// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ProxyCore

@Suite("Memory for pixels")
struct MemoryBudgetTests {
    /// A budget whose changes can be expected.
    private final class Desk {
        private var budget: MemoryBudget

        init(total: Int) { budget = MemoryBudget(total: total) }

        var sum: Int { budget.sum }
        var next: Int? { budget.next }

        func grant(_ bytes: Int, to slot: Int) -> Bool { budget.grant(bytes, to: slot) }
        func release(_ slot: Int) -> Int? { budget.release(slot) }
    }

    @Test("What fits is granted; what does not waits until enough is given back")
    func waiting() {
        let budget = Desk(total: 100)

        #expect(budget.grant(60, to: 0))
        #expect(!budget.grant(60, to: 1))
        #expect(budget.release(0) == 1)
        #expect(budget.grant(60, to: 1))
        #expect(budget.sum == 60 && budget.next == nil)
    }

    @Test("Nobody overtakes: a small job waits behind a large one that came first")
    func order() {
        let budget = Desk(total: 100)

        #expect(budget.grant(60, to: 0))
        #expect(!budget.grant(60, to: 1))
        #expect(!budget.grant(10, to: 2))
        #expect(budget.release(0) == 1)
        #expect(!budget.grant(10, to: 2))
        #expect(budget.grant(60, to: 1))
        #expect(budget.grant(10, to: 2))
    }

    @Test("A job larger than the total runs alone, so that it is not kept waiting for ever")
    func alone() {
        let budget = Desk(total: 100)

        #expect(budget.grant(500, to: 0))
        #expect(!budget.grant(1, to: 1))
        #expect(budget.release(0) == 1)
        #expect(budget.grant(1, to: 1))
    }

    @Test("One that gives up waiting stands in nobody's way")
    func leaving() {
        let budget = Desk(total: 100)

        #expect(budget.grant(60, to: 0))
        #expect(!budget.grant(60, to: 1))
        #expect(!budget.grant(40, to: 2))
        #expect(budget.release(1) == 2)
        #expect(budget.grant(40, to: 2))
    }

    private func estimate(
        _ format: ImageFormat, _ transform: String = "", isInterlaced: Bool = false, frames: Int = 1
    ) throws -> Int {
        let header = ImageHeader(
            format: format, size: PixelSize(4_000, 3_000), frames: frames, hasAlpha: false, orientation: 1,
            isInterlaced: isInterlaced)
        let pipeline = try transform.isEmpty ? TransformPipeline() : TransformPipeline(parsing: transform)
        let plan = RenderPlan(pipeline: pipeline, format: .explicit(.jpeg))
        return MemoryEstimate(header: header, frames: frames, plan: plan).bytes
    }

    @Test("A picture that passes through counts little; one that must be held counts with all its pixels")
    func estimates() throws {
        let pixels = 4_000 * 3_000

        #expect(try estimate(.jpeg, "resize:800x") < pixels)
        #expect(try estimate(.jpeg, "resize:800x", isInterlaced: true) > pixels * 5)
        #expect(try estimate(.png, "resize:800x") < pixels)
        #expect(try estimate(.png, "resize:800x", isInterlaced: true) > pixels * 3)
        #expect(try estimate(.avif, "resize:800x") > pixels * 8)
        #expect(try estimate(.gif, "resize:800x", frames: 10) > pixels * 10 * 4)
        #expect(try estimate(.jpeg) > estimate(.jpeg, "resize:800x"))
    }
}
