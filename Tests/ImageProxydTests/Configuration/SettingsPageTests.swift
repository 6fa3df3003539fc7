// SPDX-License-Identifier: Apache-2.0

import HTTPServer
import Imaging
import Primitives
import TestSupport
import Testing
import URLs

@testable import Answering
@testable import ImageProxyd
@testable import Origins

@Suite("The page of settings")
struct SettingsPageTests {
    private static let page = "docs/configuration.md"

    @Test("docs/configuration.md has every setting with its default, its values and what a reload does")
    func isComplete() {
        #expect(GeneratedPage(Self.page).ends(with: SettingsPage.tables), "run: make documents")
    }

    @Test("docs/origins.md has every member of a rule")
    func rules() {
        let rows = OriginRuleConfiguration.settings.rows.map {
            "| `\($0.path)` | \(SettingsPage.cell($0.documentation)) |\n"
        }
        let table = "\n## Members of a rule\n\n| member | meaning |\n|---|---|\n" + rows.joined()
        #expect(GeneratedPage("docs/origins.md").ends(with: table), "run: make documents")
    }

    @Test("config.example.json has every key with its default, and is accepted")
    func example() throws {
        let example = ProxyConfiguration.defaults.pretty() + "\n"
        #expect(GeneratedFile("config.example.json").holds(example), "run: make documents")
        #expect(
            try ConfigurationLoader.load(.init(file: ("example", Array(example.utf8)))).configuration
                == ProxyConfiguration())
    }

    @Test("Each member of a structure of settings has a row of its name, and each row a documentation")
    func rowsAndMembers() {
        let members = Self.members(of: ProxyConfiguration(), at: "")
        let rows = ProxyConfiguration.settings.rows
        #expect(rows.count > 140)
        #expect(Set(rows.map(\.path)) == Set(members))
        #expect(rows.allSatisfy { !$0.documentation.isEmpty })
        #expect(
            OriginRuleConfiguration.settings.rows.map(\.path)
                == Mirror(reflecting: OriginRuleConfiguration()).children.compactMap(\.label))
    }

    /// The stored members of a structure and of the structures of settings in it. Members of `server` and
    /// `addresses`, which are other modules' own, have no key above them.
    private static func members(of group: Any, at path: String) -> [String] {
        Mirror(reflecting: group).children.flatMap { member -> [String] in
            let name = member.label ?? ""
            let inner = path.isEmpty ? name : "\(path).\(name)"
            switch member.value {
            case let group as any SettingGroup where !(group is any SettingValue):
                return members(of: group, at: inner)
            case is HTTPServer.Configuration:
                return ProxyConfiguration.settings.rows.map(\.path).filter {
                    $0.hasPrefix("http.") && serverMembers.contains(String($0.dropFirst(5)))
                }
            case is AddressConfiguration: return members(of: member.value, at: path)
            case let qualities as [ImageFormat: Int] where !qualities.isEmpty:
                return qualities.keys.map { "\(path).\($0.rawValue)" }
            default: return [inner]
            }
        }
    }

    private static let serverMembers = Set(
        labels(of: HTTPServer.Configuration()).filter { $0 != "loops" && $0 != "limits" }
            + labels(of: HTTPServer.Configuration().limits).filter { $0 != "emptyLines" }
            .map { limits[$0] ?? $0 })

    /// The rows of a request's limits, whose members have other names.
    private static let limits = [
        "headBytes": "maxHeaderBytes", "targetBytes": "maxTargetBytes", "contentBytes": "maxBodyBytes",
        "fieldLines": "maxFieldLines",
    ]

    private static func labels(of value: Any) -> [String] {
        Mirror(reflecting: value).children.compactMap(\.label)
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
