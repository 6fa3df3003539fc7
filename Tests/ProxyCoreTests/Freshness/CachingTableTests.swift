// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("The tables of docs/conformance/caching.md")
struct CachingTableTests {
    @Test("The tables name only tests that exist, and leave no cell empty")
    func namesExist() {
        let table = ConformanceTable(page: "docs/conformance/caching.md")
        let tests = ConformanceTable.testNames(below: ["Tests/ProxyCoreTests", "Tests/ImageProxydTests"])

        #expect(table.rows.count > 40)
        #expect(table.problems(columns: 3, tests: tests) == [])
    }
}
