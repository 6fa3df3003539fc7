// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Pipeline
import Primitives

/// `imageproxyd purge`: removes what a running daemon has stored.
struct PurgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Removes pictures from a running daemon's cache.",
        discussion: """
            One of --url, --tag, --key, --prefix and --all says which. When the command ends, they are gone from memory \
            and disk, also after a restart. What CDNs and browsers have is not purged.
            """)

    @Option(help: "The URL of a source: with all that was made of it.")
    var url: String?

    @Option(help: "A tag: every result that carries it; their sources are requested again.")
    var tag: String?

    @Option(help: "A key, as cache list prints it: one result, or one source's original.")
    var key: String?

    @Option(
        help: "The beginning of sources' URLs, up to a part of the path, such as https://example.org/photos/."
    )
    var prefix: String?

    @Flag(help: "Everything.")
    var all = false

    @Option(help: "The tier: all, memory or disk.")
    var tier: PurgedTiers = .all

    @Flag(help: "Print the daemon's JSON.")
    var json = false

    @OptionGroup var admin: AdminOptions

    func validate() throws {
        let count = [url, tag, key, prefix, all ? "1" : nil].compactMap(\.self).count
        guard count == 1 else {
            throw ValidationError(
                "one of --url, --tag, --key, --prefix and --all is needed"
                    + (count > 1 ? ", and only one can be given" : ""))
        }
    }

    func run() throws {
        let answer = try admin.client().json(
            "/cache",
            [
                ("url", url), ("tag", tag), ("key", key), ("prefix", prefix), ("all", all ? "1" : nil),
                ("tier", tier == .all ? nil : tier.rawValue),
            ], method: "DELETE")
        guard !json else { return print(answer.pretty()) }
        print(
            "purged \(answer.int("memory")) entries from memory, \(answer.int("disk")) from disk; "
                + "forgot \(FailedCommand.failures(answer))")
        if let shared = answer["shared"] {
            print("deleted \(shared.int("deleted")) objects of the shared tier")
            if case .string(let problem)? = shared["problem"] { print("Shared tier: \(problem)") }
        }
        if let peers = answer["peers"] {
            print("\(peers.int("reached")) other nodes have done it, too")
            if case .array(let missing)? = peers["unreachable"], !missing.isEmpty {
                let names = missing.compactMap { name in
                    if case .string(let text) = name { text } else { nil }
                }
                .joined(separator: ", ")
                print(
                    "Not reached: \(names). They learn of it from the shared tier's journal, if there is one."
                )
            }
        }
        if answer["complete"] == .bool(false) {
            print("Tags were lost before: only --all is certain to reach what carries this one.")
        }
        if case .string(let hint)? = answer["hint"] { print(hint) }
    }
}

extension PurgedTiers: ExpressibleByArgument {}

/// `imageproxyd failed`: the failures that a running daemon remembers.
struct FailedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "failed",
        abstract: "Lists or forgets the failures that a running daemon remembers.",
        subcommands: [List.self, Clear.self], defaultSubcommand: List.self)

    /// How many failures an answer says.
    static func failures(_ answer: JSONValue) -> String {
        answer.int("failures") == 1 ? "1 failure" : "\(answer.int("failures")) failures"
    }

    /// `imageproxyd failed list`.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Lists what has failed, why, and for how long that is remembered.")

        @Option(help: "The URL of a source; else all are listed.")
        var url: String?

        @Flag(help: "Print the daemon's JSON.")
        var json = false

        @OptionGroup var admin: AdminOptions

        func run() throws {
            let answer = try admin.client().json("/failed", [("url", url)])
            guard !json else { return print(answer.pretty()) }
            guard case .array(let failures)? = answer["failed"] else { return }
            for failure in failures {
                print(
                    "\(failure.int("remaining")) s".padded(to: 9) + failure.text("code").padded(to: 28)
                        + failure.text("url"))
            }
            for origin in answer.rows("origins") {
                print(
                    "\(origin.int("remaining")) s".padded(to: 9) + origin.text("code").padded(to: 28)
                        + origin.text("origin") + (origin.text("clients") == "one" ? ", for one client" : ""))
            }
            if failures.isEmpty, answer.rows("origins").isEmpty { print("no failure is remembered") }
            if answer["cut"] == .bool(true) { print("… and more") }
        }
    }

    /// `imageproxyd failed clear`.
    struct Clear: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear", abstract: "Forgets failures, so that their sources are tried again.")

        @Option(help: "The URL of a source.")
        var url: String?

        @Flag(help: "All failures.")
        var all = false

        @OptionGroup var admin: AdminOptions

        func validate() throws {
            guard (url == nil) == all else { throw ValidationError("either --url URL or --all is needed") }
        }

        func run() throws {
            let answer = try admin.client().json("/failed", [("url", url)], method: "DELETE")
            print("forgot \(FailedCommand.failures(answer))")
        }
    }
}
