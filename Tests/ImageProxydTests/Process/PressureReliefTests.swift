// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ImageProxyd

@Suite("Memory tier under pressure")
struct PressureReliefTests {
    @Test("Each pressure event halves the tier, down to a sixteenth of the configured size")
    func halves() {
        var relief = PressureRelief(full: 1_600)

        #expect(relief.pressureReported(holding: 1_000, at: 0) == 500)
        #expect(relief.pressureReported(holding: 500, at: 1) == 250)
        #expect(relief.pressureReported(holding: 900, at: 2) == 125)
        #expect(relief.pressureReported(holding: 10, at: 3) == 100)
        #expect(relief.isReduced)
    }

    @Test(
        "Without pressure the tier regains an eighth of the configured size at a time, until the next event")
    func relaxes() {
        var relief = PressureRelief(full: 1_600)
        let calm = PressureRelief.calm
        _ = relief.pressureReported(holding: 1_600, at: 0)

        #expect(relief.relax(at: calm - 1) == 800)
        #expect(relief.relax(at: calm) == 1_000)
        #expect(relief.relax(at: calm + 1) == 1_000)
        #expect(relief.pressureReported(holding: 1_000, at: calm + 2) == 500)
        for step in 1...6 { _ = relief.relax(at: calm + 2 + Int64(step) * calm) }
        #expect(relief.bound == 1_600 && !relief.isReduced)
        #expect(relief.relax(at: 1_000_000) == 1_600)
    }
    @Test("A changed size applies at once without pressure, and under pressure only if it is smaller")
    func resizes() {
        var relief = PressureRelief(full: 1_600)

        #expect(relief.resize(full: 800) == 800)
        #expect(relief.pressureReported(holding: 800, at: 0) == 400)
        #expect(relief.resize(full: 1_600) == 400)
        #expect(relief.relax(at: PressureRelief.calm) == 600)
        #expect(relief.resize(full: 200) == 200)
        #expect(!relief.isReduced)
    }

}
