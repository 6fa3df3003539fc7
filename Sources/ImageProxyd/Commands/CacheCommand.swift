// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Primitives

/// `imageproxyd cache`: what a running daemon has stored.
struct CacheCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "Shows what a running daemon has stored, or checks it.",
        subcommands: [Stats.self, List.self, Verify.self])

    /// `imageproxyd cache stats`.
    struct Stats: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stats", abstract: "Shows how much each tier holds, and may hold.")

        @Flag(help: "Print the daemon's JSON.")
        var json = false

        @OptionGroup var admin: AdminOptions

        func run() throws {
            let answer = try admin.client().json("/cache")
            guard !json else { return print(answer.pretty()) }
            for tier in ["memory", "disk"] { print(Self.text(of: tier, answer)) }
            print("failures".padded(to: 14) + "\(answer.int("failures")) remembered")
        }

        private static func text(of tier: String, _ answer: JSONValue) -> String {
            guard let facts = answer[tier] else { return tier }
            if facts["on"] == .bool(false) {
                return tier.padded(to: 14) + "off: its folder can't be used, see the log"
            }
            let (hits, misses) = (facts.int("hits"), facts.int("misses"))
            let share =
                hits + misses > 0
                ? ", \(hits * 100 / (hits + misses)) % of \(hits + misses) look-ups found" : ""
            var lines = [
                tier.padded(to: 14)
                    + "\(facts.int("entries")) entries, \(ByteCount(facts.int("bytes")).rounded) of "
                    + "\(ByteCount(facts.int("limit")).rounded)\(share)"
            ]
            if facts["counted"] == .bool(false) { lines[0] += ", still counting" }
            if case .object(let kinds)? = facts["kinds"] {
                lines += kinds.map { kind in
                    "  \(kind.name)".padded(to: 14)
                        + "\(kind.value.int("entries")) entries, \(ByteCount(kind.value.int("bytes")).rounded)"
                }
            }
            for (name, title) in [
                ("damaged", "damaged"), ("writeErrors", "not written"), ("readErrors", "not read"),
            ] {
                let count = facts.int(name)
                if count > 0 { lines.append("  \(title)".padded(to: 14) + "\(count) since the start") }
            }
            return lines.joined(separator: "\n")
        }
    }

    /// `imageproxyd cache list`.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Lists what is stored of a source: originals, results, freshness.")

        @Flag(help: "Print the daemon's JSON.")
        var json = false

        @OptionGroup var admin: AdminOptions

        @Argument(help: "The URL of the source.")
        var url: String

        func run() throws {
            let answer = try admin.client().json("/cache", [("url", url)])
            guard !json else { return print(answer.pretty()) }
            guard case .array(let entries)? = answer["entries"], !entries.isEmpty || answer["source"] != .null
            else {
                print("nothing is stored of \(url)")
                throw ExitCode.failure
            }
            if let source = answer["source"], source != .null {
                let left = source.int("lifetime") - source.int("age")
                print(
                    "source".padded(to: 8) + source.text("format").padded(to: 6)
                        + "\(ByteCount(source.int("bytes")).rounded), "
                        + (source["fresh"] == .bool(true) ? "fresh for \(left) s more" : "stale"))
            }
            for entry in entries {
                let place = entry.text("tier").padded(to: 8) + entry.text("kind").padded(to: 14)
                let size = ByteCount(entry.int("bytes")).rounded.padded(to: 12)
                print("\(place)\(size)\(entry.text("key"))  stored \(entry.text("stored"))")
            }
            if answer["cut"] == .bool(true) { print("… and more") }
        }
    }

    /// `imageproxyd cache verify`.
    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Reads all files of the disk tier, and removes those that are damaged.",
            discussion: """
                Compares each file with its checksum. What is removed is fetched or made again when it is requested. \
                Exits with 0 if nothing was wrong, and with 1 if something was.
                """)

        @Flag(help: "Print the sum as JSON.")
        var json = false

        @OptionGroup var admin: AdminOptions

        func run() throws {
            let client = try admin.client()
            var (sum, after) = ([0, 0, 0, 0], 0)
            let names = ["entries", "bytes", "damaged", "missing"]
            while true {
                let piece = try client.json("/cache/verify", [("after", "\(after)")], method: "POST")
                for (index, name) in names.enumerated() { sum[index] += piece.int(name) }
                guard case .integer(let next)? = piece["next"] else { break }
                after = next
            }
            if json {
                print(JSONValue.object(zip(names, sum).map { .init(name: $0, value: .integer($1)) }).pretty())
            } else {
                print(
                    "\(sum[0]) entries, \(ByteCount(sum[1]).rounded) read: \(sum[2]) damaged, \(sum[3]) missing"
                        + (sum[2] + sum[3] > 0 ? "; removed" : ""))
            }
            if sum[2] + sum[3] > 0 { throw ExitCode.failure }
        }
    }
}
