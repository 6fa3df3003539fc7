// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("The table of docs/conformance.md")
struct ConformanceTableTests {
    @Test("names only tests that exist, and leaves no cell empty")
    func namesExist() {
        let names = Set(TextFiles.swift(below: "Tests/HTTPServerTests").flatMap(displayNames))
        let rows = TextFiles.read("docs/conformance.md").split(separator: "\n").filter(isRow).map(cells)

        #expect(rows.count > 100)
        for row in rows {
            #expect(row.count == 3 && !row.contains(""), "\(row)")
            #expect(names.contains(row.last ?? ""), "no such test: \(row.last ?? "")")
        }
    }

    /// Whether a line is a row of a table, and neither its head nor its rule.
    private func isRow(_ line: Substring) -> Bool {
        line.hasPrefix("| ") && !line.hasPrefix("| RFC ")
    }

    /// The cells of a row; `\|` is a bar within one.
    private func cells(_ row: Substring) -> [String] {
        row.split(separator: " | ", omittingEmptySubsequences: false).map { cell in
            cell.drop { $0 == "|" || $0 == " " }.split(separator: "\\").joined().trimmingEnd()
        }
    }

    /// The first argument of every `@Test` in a source, where that is a string.
    private func displayNames(in source: String) -> [String] {
        source.split(separator: "@Test(").dropFirst().compactMap { text in
            let argument = text.drop(while: \.isWhitespace)
            guard argument.first == "\"" else { return nil }
            return String(argument.dropFirst().prefix { $0 != "\"" })
        }
    }
}

extension StringProtocol {
    /// Without the end of a row.
    fileprivate func trimmingEnd() -> String {
        var text = Substring(self)
        while let last = text.last, last == " " || last == "|" { text.removeLast() }
        return String(text)
    }
}
