// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ProxyCore

@Suite("Examples in the documents")
struct ExampleTests {
    private static let pages =
        ["README.md"]
        + [
            "caching", "configuration", "durability", "engine", "http-server", "origins", "signing",
            "streaming",
            "transforms",
        ].map { "docs/\($0).md" }

    @Test("Every transform that a page shows can be requested as it stands")
    func transforms() throws {
        let operations = Set(TransformPipeline.catalogue.map(\.name))
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

    @Test(
        "The README's table of errors has every code under its status, except that of disconnected clients")
    func codes() {
        let source = TextFiles.read("Sources/ProxyCore/Pipeline/PipelineError+Table.swift")
        let errors = source.matches(of: /PipelineError\(\s*(\d{3}), "([a-z_]+)"/)
        let rows = TextFiles.read("README.md").split(separator: "\n").filter { $0.hasPrefix("| ") }
        #expect(errors.count > 40)
        for error in errors where error.1 != "499" {
            let row = rows.first { $0.hasPrefix("| \(error.1) |") }
            #expect(row?.contains("`\(error.2)`") == true, "\(error.1) \(error.2)")
        }
    }
}
