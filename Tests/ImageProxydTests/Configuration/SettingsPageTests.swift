// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ImageProxyd

@Suite("The page of settings")
struct SettingsPageTests {
    private static let page = "docs/configuration.md"

    @Test("docs/configuration.md has every setting with its default, its range and its comment")
    func isComplete() {
        #expect(GeneratedPage(Self.page).ends(with: SettingsPage().tables), "run: make documents")
    }

    @Test("Each setting has a comment that says what it is")
    func hasComments() {
        let rows = SettingsPage().tables.split(separator: "\n").filter { $0.hasPrefix("| `") }
        #expect(rows.count > 140)
        for row in rows { #expect(!row.hasSuffix("|  |"), "\(row)") }
    }

    @Test("The objects that the page shows are accepted unchanged")
    func examples() throws {
        let blocks = TextFiles.read(Self.page).split(separator: "```")
        let examples = blocks.filter { $0.hasPrefix("json\n") }.map { String($0.dropFirst("json\n".count)) }
        #expect(examples.count >= 4)
        for example in examples {
            #expect(throws: Never.self, "\(example)") {
                try ConfigurationLoader.load(.init(file: ("example", Array(example.utf8))))
            }
        }
    }
}
