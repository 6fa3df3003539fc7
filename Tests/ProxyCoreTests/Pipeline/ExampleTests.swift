// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Imaging

@Suite("Examples in the documents")
struct ExampleTests {
    private static let pages =
        ["README.md"]
        + [
            "caching", "configuration", "durability", "engine", "http-server", "origins", "paths", "signing",
            "streaming", "transforms", "url",
        ].map { "docs/\($0).md" }

    @Test("Every transform that a page shows can be requested as it stands")
    func transforms() throws {
        let operations = Set(TransformRegistry.all.map { $0.name })
        var count = 0
        for page in Self.pages {
            let text = TextFiles.read(page)
            let inCode = text.matches(of: /`([a-z]+):([^`\s]+)`/).filter {
                operations.contains(String($0.1)) && $0.2.contains(where: \.isNumber)
            }
            let inURLs = text.matches(of: /transform=([a-z]+:[A-Za-z0-9:,.=+_-]+)/)
            for example in inCode.map({ String($0.0.dropFirst().dropLast()) }) + inURLs.map({ String($0.1) })
            {
                count += 1
                #expect(throws: Never.self, "\(page): \(example)") { try TransformPipeline(parsing: example) }
            }
        }
        #expect(count >= 8)
    }

    /// The rows of the table of errors: status and code.
    private static let errors = TextFiles.read(
        "Sources/ProxyCore/Pipeline/Failures/PipelineError+Table.swift"
    )
    .matches(of: /PipelineError\(\s*(\d{3}), "([a-z_]+)"/).map { (status: $0.1, code: $0.2) }

    @Test(
        "The table of docs/errors.md has every code under its status, except that of disconnected clients")
    func codes() {
        let rows = TextFiles.read("docs/errors.md").split(separator: "\n").filter { $0.hasPrefix("| ") }
        #expect(Self.errors.count > 40)
        for error in Self.errors where error.status != "499" {
            let row = rows.first { $0.hasPrefix("| \(error.status) |") }
            #expect(row?.contains("`\(error.code)`") == true, "\(error.status) \(error.code)")
        }
    }

    @Test("docs/errors.md lists no code but those of the program's table, and those of HTTP and routes")
    func noOtherCodes() {
        let known = Set(Self.errors.map(\.code)).union(["bad_request", "not_found", "method_not_allowed"])
        let rows = TextFiles.read("docs/errors.md").matches(of: /\n\| [45]\d\d \| ([^\n]*)/)
        let codes = rows.flatMap { $0.1.matches(of: /`([a-z_]+)`/).map(\.1) }
        #expect(codes.count > 30)
        for code in codes { #expect(known.contains(code), "\(code)") }
    }
}
