// SPDX-License-Identifier: Apache-2.0

import Documents

@testable import Answering
@testable import ImageProxyd

/// A block of code in a page of the documentation, between lines of three backquotes.
struct CodeBlock: Sendable, CustomStringConvertible {
    /// The page's path in the repository, and the line of the block's first one.
    let page: String
    let line: Int
    /// The text behind the first backquotes.
    let language: String
    let text: String

    var description: String { "\(page):\(line)" }

    /// Every block of every page.
    static let all = pages.flatMap { blocks(of: $0.text, in: $0.path) }

    /// Every page with its text.
    static let pages = DocumentPages.documents.filter { $0.path.hasSuffix(".md") }
        .map { (path: $0.path, text: String(decoding: $0.bytes, as: UTF8.self)) }

    private static func blocks(of text: String, in page: String) -> [CodeBlock] {
        var blocks: [CodeBlock] = []
        var open: (line: Int, language: String, lines: [Substring])?
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let trimmed = line.drop { $0 == " " }
            if !trimmed.hasPrefix("```") {
                open?.lines.append(line)
            } else if let block = open {
                blocks.append(
                    CodeBlock(
                        page: page, line: block.line, language: block.language,
                        text: block.lines.joined(separator: "\n") + "\n"))
                open = nil
            } else {
                open = (number + 2, String(trimmed.dropFirst(3)), [])
            }
        }
        return blocks
    }

    /// The commands of a shell: a line, with those that continue it. In a session on a terminal they follow `$ `, and the
    /// other lines are what they print.
    var commands: [(command: String, output: [String])] {
        var commands: [(command: String, output: [String])] = []
        var continues = false
        for line in text.split(separator: "\n").map(String.init) {
            if continues {
                commands[commands.count - 1].command += "\n" + line
            } else if language == "console", !line.hasPrefix("$ ") {
                commands[commands.count - 1].output.append(line)
                continue
            } else {
                commands.append((language == "console" ? String(line.dropFirst(2)) : line, []))
            }
            let command = commands[commands.count - 1].command
            continues =
                line.hasSuffix("\\") || line.hasSuffix("|")
                || command.contains("; do\n") && !line.hasPrefix("done") || line.hasSuffix("; do")
        }
        return commands
    }
}
