// SPDX-License-Identifier: Apache-2.0

import Primitives
import TestSupport

@testable import ImageProxyd

/// The tables of `docs/configuration.md`: each setting with its default, its range, and the comment of its
/// declaration.
struct SettingsPage {
    private let declarations: [String: [Declaration]]
    private let ranges: [String: String]

    private struct Declaration {
        let name: String
        let type: String
        let comment: String
    }

    init() {
        let texts = ["Sources/ImageProxyd", "Sources/ProxyCore"].flatMap { TextFiles.swift(below: $0) }
        declarations = texts.reduce(into: [:]) { found, text in
            Self.read(text) { type, declaration in found[type, default: []].append(declaration) }
        }
        ranges = ProxyConfiguration().bounds().ranges
    }

    // MARK: - Tables

    /// The tables, a section for each top-level key that has members.
    var tables: String {
        guard case .object(let members) = ConfigurationLoader.defaults else { return "" }
        var single: [String] = []
        var sections = ""
        for member in members {
            let rows = self.rows(of: member, in: "ProxyConfiguration", path: "")
            if case .object(let inner) = member.value, !inner.isEmpty {
                let comment = declaration(of: member.name, in: "ProxyConfiguration")?.comment ?? ""
                sections += "\n## `\(member.name)`\n\n\(comment)\n\n\(Self.table(rows))"
            } else {
                single += rows
            }
        }
        return "\n## Single settings\n\n" + Self.table(single) + sections
    }

    private static func table(_ rows: [String]) -> String {
        "| key | default | may be | meaning |\n|---|---|---|---|\n" + rows.joined()
    }

    private func rows(of member: JSONValue.Member, in type: String, path: String) -> [String] {
        let key = path.isEmpty ? member.name : "\(path).\(member.name)"
        let declaration = declaration(of: member.name, in: type)
        if case .object(let inner) = member.value, !inner.isEmpty {
            let innerType = resolved(declaration?.type ?? "", in: type)
            return inner.flatMap { rows(of: $0, in: innerType, path: key) }
        }
        let range = ranges[key] ?? cases(of: declaration?.type ?? "", in: type)
        let comment = (declaration?.comment ?? "").split(separator: "|").joined(separator: "\\|")
        return ["| `\(key)` | `\(member.value.compact)` | \(range) | \(comment) |\n"]
    }

    private func declaration(of name: String, in type: String) -> Declaration? {
        declarations[type]?.first { $0.name == name }
    }

    private func resolved(_ type: String, in outer: String) -> String {
        declarations["\(outer).\(type)"] == nil ? type : "\(outer).\(type)"
    }

    /// The words of an enumeration, or nothing.
    private func cases(of type: String, in outer: String) -> String {
        let words = declarations[resolved(type, in: outer)]?.filter { $0.type == "case" }.map {
            "`\($0.name)`"
        }
        return type == "Bool" ? "`true`, `false`" : words?.joined(separator: ", ") ?? ""
    }

    // MARK: - Declarations

    /// Calls `found` with each stored property of a structure, and each case of an enumeration, by the full name of its type.
    private static func read(_ text: String, _ found: (String, Declaration) -> Void) {
        var types: [(indent: Int, name: String)] = []
        var comment: [Substring] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let indent = line.prefix { $0 == " " }.count
            let code = line.dropFirst(indent)
            if code.hasPrefix("///") {
                comment.append(code.dropFirst(3).drop { $0 == " " })
                continue
            }
            defer { if !code.isEmpty { comment = [] } }
            while let last = types.last, !code.isEmpty, indent <= last.indent { types.removeLast() }
            let words = code.split(separator: " ").drop { $0 == "public" || $0 == "package" }
            guard let keyword = words.first, let name = words.dropFirst().first else { continue }
            if ["struct", "enum"].contains(keyword), code.hasSuffix("{") {
                types.append((indent, String(name.prefix { $0.isLetter || $0.isNumber })))
            } else if let type = types.last, indent == type.indent + 4 {
                let full = types.map(\.name).joined(separator: ".")
                for declaration in declared(keyword, code, comment) { found(full, declaration) }
            }
        }
    }

    private static func declared(
        _ keyword: Substring, _ code: Substring, _ comment: [Substring]
    ) -> [Declaration] {
        let text = comment.joined(separator: " ").split(separator: " ").joined(separator: " ")
        if keyword == "case" {
            return code.dropFirst("case ".count).split(separator: ", ").map {
                Declaration(name: String($0.prefix { $0.isLetter }), type: "case", comment: text)
            }
        }
        guard keyword == "var", !code.hasSuffix("{"), !code.hasSuffix("}"),
            let rest = code.split(separator: "var ", maxSplits: 1).last?.drop(while: { $0 == "`" })
        else { return [] }
        let name = rest.prefix { $0.isLetter || $0.isNumber }
        let tail = rest.dropFirst(name.count).drop { $0 == "`" }
        // `: Type = …` or `= Type(…)`.
        let from = tail.drop { ": =".contains($0) }
        let type = from.hasPrefix("true") || from.hasPrefix("false") ? "Bool" : from.prefix { $0.isLetter }
        return [Declaration(name: String(name), type: String(type), comment: text)]
    }
}
