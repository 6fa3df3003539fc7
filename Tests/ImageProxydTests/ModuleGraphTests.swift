// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("The graph of modules")
struct ModuleGraphTests {
    /// The imports of each module, as the manifest declares them.
    private static let declared = rows.mapValues(\.imports)

    private static let rows: [String: (folder: String, imports: Set<String>)] = {
        let manifest = TextFiles.read("Package.swift")
        let rows = manifest.matches(of: /module\(\s*"(\w+)",(?: in: "([\w\/]+)",)?\s*imports: \[([^\]]*)\]/)
        return Dictionary(
            uniqueKeysWithValues: rows.map {
                let folder = $0.2.map(String.init) ?? "Sources/ProxyCore"
                return (String($0.1), ("\(folder)/\($0.1)", names(in: $0.3, /"(\w+)"/)))
            })
    }()

    private static func names(in text: Substring, _ pattern: Regex<(Substring, Substring)>) -> Set<String> {
        Set(text.matches(of: pattern).map { String($0.1) })
    }

    @Test("ARCHITECTURE.md lists every module with its imports, as the manifest declares them")
    func document() {
        let rows = TextFiles.read("ARCHITECTURE.md").matches(of: /(?m)^\| `(\w+)` \|([^|]*)\|/)
        let shown = rows.map { (String($0.1), Self.names(in: $0.2, /`(\w+)`/)) }

        #expect(Self.declared.count > 10)
        #expect(Dictionary(shown, uniquingKeysWith: { $1 }) == Self.declared)
    }

    @Test("A module's files import the modules that the manifest declares for it, and no other")
    func imports() {
        for (module, (folder, declared)) in Self.rows {
            let texts = TextFiles.swift(below: folder)
            let lines = texts.flatMap { $0.matches(of: /(?m)^(?:package )?import (\w+)$/) }
            let imported = Set(lines.map { String($0.1) })

            #expect(!texts.isEmpty)
            #expect(imported.intersection(Self.declared.keys) == declared, "\(module)")
        }
    }

    @Test("The tests of a module import modules that it imports itself, and no other")
    func importsOfTests() throws {
        let targets = TextFiles.read("Package.swift").matches(
            of: /tests\(\s*of: "(\w+)",\s*imports: \[([^\]]*)\]/)

        #expect(targets.count > 10)
        for target in targets {
            let module = String(target.1)
            let permitted = try #require(Self.declared[module], "\(module)").union([module])
            let listed = Self.names(in: target.2, /"(\w+)"/)
            let texts = TextFiles.swift(below: "Tests/ProxyCoreTests/\(module)")
            let lines = texts.flatMap { $0.matches(of: /(?m)^(?:@testable )?import (\w+)$/) }

            #expect(!texts.isEmpty)
            let imported = listed.union(lines.map { String($0.1) }).intersection(Self.declared.keys)
            #expect(imported.subtracting(permitted) == [], "\(module)")
        }
    }
}
