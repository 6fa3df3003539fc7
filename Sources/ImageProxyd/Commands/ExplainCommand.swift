// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Primitives
import Request

/// `imageproxyd explain`: what a running daemon would do with a request, and what it has stored for it.
struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract:
            "Walks a request through a running daemon: parameters, rules, tiers, origin; without doing it.",
        discussion: """
            The argument is a target of the proxy such as '/img?url=…&transform=resize:300x', a whole URL of it, or the \
            URL of a source. Neither is the origin asked nor a picture made. \
            Exits with 0 if a picture would be answered, and with 1 if not.
            """)

    @Option(help: "The client's Accept field, by which the format is chosen.")
    var accept: String?

    @Flag(help: "Print the daemon's JSON.")
    var json = false

    @OptionGroup var admin: AdminOptions

    @Argument(help: "A target, a URL of the proxy, or the URL of a source.")
    var url: String

    func run() throws {
        let target = Self.target(of: url)
        let answer = try admin.client().json(
            "/explain", [("target", target), ("url", target == nil ? url : nil), ("accept", accept)])
        if json { print(answer.pretty()) } else { Self.write(answer) }
        guard case .integer(200)? = answer["status"] else { throw ExitCode.failure }
    }

    private static func write(_ answer: JSONValue) {
        guard case .array(let steps)? = answer["steps"] else { return }
        for step in steps {
            guard case .string(let name)? = step["step"], case .string(let text)? = step["text"] else {
                continue
            }
            print(name.padded(to: 12) + text)
        }
    }

    /// The target of the proxy that a text is or has; nil if it is the URL of a source.
    static func target(of text: String) -> String? {
        guard let request = LoggedRequest(url: text) else { return nil }
        let target = request.target
        let isQuery = ["/img?", "/info?"].contains { target.hasPrefix($0) } && target.contains("url")
        let isOurs = text.hasPrefix("/") || isQuery || URLTranslator.queryForm(of: request) != nil
        return isOurs ? target : nil
    }
}
