// SPDX-License-Identifier: Apache-2.0

import Answering
import CLinux
import Glibc
import Logging
import Observability
import Primitives

/// The output of the daemon's log and the access log: standard error, or the journal if standard error leads
/// there.
struct LogOutput: Sendable {
    /// The settings, with `auto` resolved.
    let configuration: LogConfiguration
    /// The sink of both logs.
    let sink: LogSink
    /// The level below which the daemon's log drops messages, for all loggers at once; a reload can change it.
    let threshold: CurrentValue<Logger.Level>

    /// Opens the output.
    /// - Throws: if the settings name the journal and its socket can't be reached; `auto` then means `text`.
    init(
        _ configuration: LogConfiguration, environment: [String: String],
        journalPath: String = LogSink.journalPath
    ) throws(LogSink.Failure) {
        threshold = CurrentValue(Logger.Level(configuration.level))
        let underJournal = Self.leadsToJournal(STDERR_FILENO, environment["JOURNAL_STREAM"])
        let resolved = configuration.resolved(underJournal: underJournal)
        do throws(LogSink.Failure) {
            sink =
                resolved.format == .journald
                ? try LogSink(journal: journalPath) : LogSink(descriptor: STDERR_FILENO)
            self.configuration = resolved
        } catch {
            guard configuration.format == .auto else { throw error }
            sink = LogSink(descriptor: STDERR_FILENO)
            self.configuration = configuration.resolved(underJournal: false)
        }
    }

    /// Why the journal can't be reached, and what works without it.
    static func problem(_ failure: LogSink.Failure) -> String {
        "journald: \(LogSink.journalPath): \(systemErrorText(failure.code)); use text or json"
    }

    /// Makes the handler of a logger.
    func handler(label: String) -> any LogHandler {
        DaemonLogHandler(label: label, configuration: configuration, threshold: threshold, sink: sink)
    }

    /// Whether the descriptor is the stream that systemd connected to the journal: `JOURNAL_STREAM` names its device and
    /// inode (systemd.exec(5)), so that a redirected output is not mistaken for it.
    static func leadsToJournal(_ descriptor: Int32, _ stream: String?) -> Bool {
        guard let numbers = stream?.split(separator: ":").compactMap({ UInt64($0) }), numbers.count == 2
        else { return false }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0 else { return false }
        return numbers == [UInt64(facts.st_dev), UInt64(facts.st_ino)]
    }
}
