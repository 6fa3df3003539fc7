// SPDX-License-Identifier: Apache-2.0

/// A table of the documentation whose last column names the tests that show each row.
public struct ConformanceTable: Sendable {
    /// The cells of each row, without heads and rules.
    public let rows: [[String]]

    /// Reads the tables of a page; the line above a rule is a head.
    public init(page: String) {
        let lines = TextFiles.read(page).split(separator: "\n")
        rows = zip(lines, lines.dropFirst() + [""]).compactMap { line, next in
            line.hasPrefix("| ") && !next.hasPrefix("|---") ? Self.cells(line) : nil
        }
    }

    /// The display names of all tests in these folders.
    public static func testNames(below folders: [String]) -> Set<String> {
        Set(folders.flatMap { TextFiles.swift(below: $0) }.flatMap(displayNames))
    }

    /// The problems of the table: rows that lack a cell, and tests that do not exist.
    public func problems(columns: Int, tests: Set<String>) -> [String] {
        rows.compactMap { row in
            if row.count != columns || row.contains("") { return "incomplete: \(row)" }
            return tests.contains(row.last ?? "") ? nil : "no such test: \(row.last ?? "")"
        }
    }

    /// The cells of a row; `\|` is a bar within one.
    private static func cells(_ row: Substring) -> [String] {
        row.split(separator: " | ", omittingEmptySubsequences: false).map { cell in
            var text = cell.drop { $0 == "|" || $0 == " " }.split(separator: "\\").joined()
            while let last = text.last, last == " " || last == "|" { text.removeLast() }
            return text
        }
    }

    /// The first argument of every `@Test` in a source, if that is a string.
    private static func displayNames(in source: String) -> [String] {
        source.split(separator: "@Test(").dropFirst().compactMap { text in
            let argument = text.drop(while: \.isWhitespace)
            guard argument.first == "\"" else { return nil }
            return String(argument.dropFirst().prefix { $0 != "\"" })
        }
    }
}
