// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("The tables of docs/conformance/http.md")
struct ConformanceTableTests {
    @Test("The table names only tests that exist, and leaves no cell empty")
    func namesExist() {
        let table = ConformanceTable(page: "docs/conformance/http.md")
        let tests = ConformanceTable.testNames(
            below: ["Tests/HTTPServerTests", "Tests/ImageProxydTests"])

        #expect(table.rows.count > 100)
        #expect(table.problems(columns: 3, tests: tests) == [])
    }
}
