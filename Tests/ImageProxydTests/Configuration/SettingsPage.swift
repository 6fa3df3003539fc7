// SPDX-License-Identifier: Apache-2.0

import Primitives

@testable import Answering
@testable import ImageProxyd

/// The tables of settings in the documentation, from the rows that declare them.
enum SettingsPage {
    /// The tables of `docs/configuration.md`, a section for each top-level key that has members.
    static var tables: String {
        let rows = ProxyConfiguration.settings.rows
        let sections = rows.chunked { $0.path.prefix { $0 != "." } }.filter { !$0.1[0].group.isEmpty }
        return "\n## Single settings\n\n" + table(rows.filter { $0.group.isEmpty })
            + sections.map { "\n## `\($0)`\n\n\($1[0].group)\n\n\(table($1))" }.joined()
    }

    private static func table(_ settings: [Setting<ProxyConfiguration>]) -> String {
        "| key | default | may be | reload | meaning |\n|---|---|---|---|---|\n" + settings.map(row).joined()
    }

    private static func row(_ setting: Setting<ProxyConfiguration>) -> String {
        let value = setting.json(ProxyConfiguration()).compact
        let choices = setting.choices.map { "`\($0)`" }.joined(separator: ", ")
        let reload =
            switch setting.reload {
            case .takes: "yes"
            case .takesWithWorkers: "with workers"
            case .needsRestart, nil: "no"
            }
        return "| `\(setting.path)` | `\(value)` | \(cell(setting.allowed ?? choices)) | \(reload) | "
            + "\(cell(setting.documentation)) |\n"
    }

    /// Text in one line, with the marks of tables escaped.
    static func cell(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            .split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
    }
}

extension Array {
    /// The elements in runs of those that have the same key.
    fileprivate func chunked<Key: Equatable>(_ key: (Element) -> Key) -> [(Key, [Element])] {
        reduce(into: []) { chunks, element in
            if chunks.last?.0 == key(element) {
                chunks[chunks.count - 1].1.append(element)
            } else {
                chunks.append((key(element), [element]))
            }
        }
    }
}
