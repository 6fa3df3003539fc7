// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("The tables of docs/security/attacks.md")
struct AttackTablesTests {
    @Test("The tables name a bound and a test that exists for each attack")
    func namesExist() {
        let table = ConformanceTable(page: "docs/security/attacks.md")
        let tests = ConformanceTable.testNames(
            below: ["Tests/HTTPServerTests", "Tests/ProxyCoreTests", "Tests/ImageProxydTests"])

        #expect(table.rows.count > 30)
        #expect(table.problems(columns: 3, tests: tests) == [])
    }
}
