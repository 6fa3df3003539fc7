// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Loading

@Suite("Concurrent name look-ups")
struct NameLookUpTests {
    @Test(
        "are at most as many as the descriptors of the resolver allow",
        arguments: [(64, 1), (96, 1), (128, 1), (400, 8), (1_024, 28), (4_096, 124), (131_072, 124)])
    func most(descriptors: UInt64, most: Int) {
        #expect(NameLookUps.most(of: descriptors) == most)
    }

    @Test("are counted when they begin and end")
    func counting() {
        let lookUps = NameLookUps()
        var begun = 0
        while begun < 1_000, lookUps.begin() { begun += 1 }

        lookUps.end()

        #expect(begun < 1_000)
        #expect(lookUps.begin())
        #expect(!lookUps.begin())
    }
}
