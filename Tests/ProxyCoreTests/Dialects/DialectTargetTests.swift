// SPDX-License-Identifier: Apache-2.0

import Dialects
import Testing

@Suite("Targets of other proxies")
struct DialectTargetTests {
    @Test("A target is divided at its first question mark, also before a combining mark")
    func dividesAtBytes() {
        let target = DialectTarget("/..?\u{6EA}")
        #expect(target.path == "/..")
        #expect(target.query == "\u{6EA}")
    }
}
