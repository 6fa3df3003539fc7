// SPDX-License-Identifier: Apache-2.0

import Documents
import Foundation
import TestSupport
import Testing

@Suite("The commands and URLs of the documentation")
struct DocumentCommandTests {
    @Test("The language of each block of code is one that is checked, or that has nothing to run")
    func languages() {
        for block in CodeBlock.all {
            #expect(
                ["sh", "console", "json", "nginx", "html", "js", "text"].contains(block.language), "\(block)")
        }
    }

    @Test("Every command runs, or stands in the list of those that can't, with the reason")
    func commands() async throws {
        let place = try await Workplace()
        var listed: Set<String> = []
        var run = 0
        var list = ""
        for block in CodeBlock.all where block.language == "sh" || block.language == "console" {
            var script = ""
            for (command, output) in block.commands {
                if let reason = UnrunCommands.reasons[command] {
                    listed.insert(command)
                    list += "not run: \(block): \(command) – \(reason)\n"
                    continue
                }
                list += "run: \(block): \(command)\n"
                run += 1
                if block.language == "console" {
                    let outcome = try await place.run(command, failsOnErrors: false)
                    #expect(outcome.code == 0, "\(block): \(command)\n\(outcome.errors)")
                    Self.compare(outcome.output, with: output, block)
                } else {
                    script += command + "\n"
                }
            }
            guard !script.isEmpty else { continue }
            let outcome = try await place.run(script, failsOnErrors: true)
            #expect(outcome.code == 0, "\(block): \(script)\n\(outcome.output)\n\(outcome.errors)")
        }
        try Self.write(list, to: "document-commands.txt")
        #expect(run > 15)
        #expect(listed == Set(UnrunCommands.reasons.keys))
    }

    /// Leaves a list of what was tried beside the programs, for a reader; `make document-commands` shows it.
    private static func write(_ list: String, to name: String) throws {
        let folder = URL(filePath: DaemonProcess.executable).deletingLastPathComponent()
        try Data(list.utf8).write(to: folder.appending(path: name))
    }

    /// What a page shows of an answer: a field's line has its name, and its value if that has nothing that differs from
    /// run to run; of another line the beginning up to `…`.
    private static func compare(_ output: String, with shown: [String], _ block: CodeBlock) {
        let lines = output.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " } }
        for line in shown {
            let isVariable = line.contains("…") || line.hasPrefix("Server-Timing")
            let name = line.split(separator: ":").first.map { $0 + ":" } ?? ""
            let isField = line.contains(": ") && !line.hasPrefix("{")
            let start = isVariable ? (isField ? name : String(line.prefix { $0 != "…" })) : line
            let found = lines.contains { $0.hasPrefix(start.trimmingCharacters(in: .whitespaces)) }
            #expect(found, "\(block): \(line)\nin \(output)")
        }
    }

    @Test("Every URL of a picture in a page is accepted")
    func urls() async throws {
        let place = try await Workplace()
        var count = 0
        var list = ""
        for (page, text) in CodeBlock.pages {
            for match in text.matches(of: /\/(?:img|info)\?[^\s`'"<>|)…\\$]+/) {
                let target = String(match.0).replacing("&amp;", with: "&")
                guard Self.isWhole(target, before: text[match.range.upperBound...]) else { continue }
                count += 1
                // Nothing is fetched, and what is not stored is 504.
                let answer = try await place.head(target + "&options=from-cache-only")
                list += "\(answer.status): \(page): \(target)\n"
                #expect([200, 504].contains(answer.status), "\(page): \(target)\n\(answer.text)")
            }
        }
        try Self.write(list, to: "document-urls.txt")
        #expect(count > 10)
    }

    /// Whether a text is a whole URL: with a source, and without a part that a reader has to replace; and not one of those
    /// that show an error or need another key.
    private static func isWhole(_ target: String, before rest: Substring) -> Bool {
        guard target.contains("url=http") || target.contains("url64=aHR0"), !target.contains("sig=") else {
            return false
        }
        let isCut = rest.hasPrefix("…") || rest.hasPrefix("$") || rest.hasPrefix("<")
        let isError = target.contains("transform=resiz:")
        let needsSettings = target.contains("preset=") || target.contains("options=")
        return !isCut && !isError && !needsSettings
    }
}
