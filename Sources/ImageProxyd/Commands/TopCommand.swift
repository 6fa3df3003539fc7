// SPDX-License-Identifier: Apache-2.0

import Answering
import ArgumentParser
import Glibc
import Primitives

/// `imageproxyd top`: what a running daemon does, as tables that update.
struct TopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Shows what a running daemon does: rates, tiers, queues, hosts, slow transforms, failures.",
        discussion: """
            Asks the admin listener, where the settings say it is. On a terminal the tables stay in place; elsewhere they
            are printed one after the other. Rates are of the last minute at most. Tables are of the last five to ten
            minutes, of answers that no cache could give.
            """)

    @Flag(help: "Print the tables once, with the rates of one second.")
    var once = false

    @Flag(help: "Print a JSON object a line instead of tables.")
    var json = false

    @Option(help: "The seconds between two tables, 1 to 3600.")
    var interval = 1

    @OptionGroup var admin: AdminOptions

    mutating func validate() throws {
        guard (1...3_600).contains(interval) else { throw ValidationError("--interval must be 1 to 3600") }
    }

    func run() throws {
        let client = try admin.client()
        var window = StatsWindow()
        while true {
            do throws(AdminConnection.Failure) {
                if try follow(client, &window) { return }
            } catch {
                // A daemon that has been there may be starting again.
                guard window.hasRates, !once, error.isTransient else {
                    throw HostProcess.reported("\(error)")
                }
            }
            // A reload ends the streams, too.
            sleep(Self.retrySeconds)
        }
    }

    /// The time until a stream that has ended is requested again.
    private static let retrySeconds: UInt32 = 2

    /// Reads one stream, and shows what it says, until it ends.
    /// - Returns: whether that was all that was requested.
    private func follow(
        _ client: AdminClient, _ window: inout StatsWindow
    ) throws(AdminConnection.Failure) -> Bool {
        var connection = try client.stream("/stats/events")
        var shown = Int.min / 2
        while let data = try connection.event(named: "stats") {
            var parser = JSONParser(Array(data.utf8))
            // Ignored: what is wrong with it; the daemon writes JSON.
            guard let sample = try? parser.parse() else { throw .unexpectedAnswer }
            window.add(sample)
            // There are no rates of one sample.
            let now = sample.int("milliseconds")
            guard window.hasRates, now - shown >= interval * 1_000 - Self.tolerance else { continue }
            shown = now
            show(window)
            if once { return true }
        }
        return false
    }

    /// Events come a little early or late, in milliseconds.
    private static let tolerance = 500

    // MARK: - Output

    private func show(_ window: StatsWindow) {
        guard !json else { return Terminal.write(window.json.compact + "\n") }
        var screen = TopScreen(window: window)
        let now = Int(SystemTime.coarseSeconds())
        guard let size = once ? nil : Terminal.size else {
            let lines = screen.lines(at: now).map { $0.text + "\n" }
            return Terminal.write(lines.joined() + (once ? "" : "\n"))
        }
        screen.maxRows = Self.rows(in: size)
        let lines = screen.lines(at: now).prefix(size.height - 1)
        let text = lines.map { line in
            let text = TopScreen.cut(line.text, to: size.width)
            // Bold, up to the end of the heading; what was there before is erased.
            return (line.isHeading ? "\u{1B}[1m\(text)\u{1B}[0m" : text) + "\u{1B}[K\n"
        }
        // From the upper left corner; what is below is erased.
        Terminal.write("\u{1B}[H" + text.joined() + "\u{1B}[J")
    }

    /// How many rows each of the four tables may have, beside the summary, headings and empty lines.
    private static func rows(in size: (width: Int, height: Int)) -> Int {
        max(2, min(10, (size.height - 14) / 4))
    }
}
