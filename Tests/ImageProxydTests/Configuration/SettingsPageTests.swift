// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import ImageProxyd

@Suite("The page of settings")
struct SettingsPageTests {
    private static let page = "docs/configuration.md"

    @Test("docs/configuration.md has every setting with its default, its range and its comment")
    func isComplete() throws {
        let text = TextFiles.read(Self.page)
        let parts = text.split(separator: SettingsPage.mark, maxSplits: 1)
        let prose = String(try #require(parts.first))
        let made = prose + SettingsPage.mark + SettingsPage().tables
        guard getenv("DOCUMENT_SETTINGS") == nil else { return TextFiles.write(made, to: Self.page) }
        #expect(text == made, "run: make document-settings")
    }

    @Test("Each setting has a comment that says what it is")
    func hasComments() {
        let rows = SettingsPage().tables.split(separator: "\n").filter { $0.hasPrefix("| `") }
        #expect(rows.count > 140)
        for row in rows { #expect(!row.hasSuffix("|  |"), "\(row)") }
    }

    @Test("The objects that the page shows are taken as they stand")
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
