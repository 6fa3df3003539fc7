// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Logging
import Observability
import Primitives

/// Writes the daemon's own log in the formats of the access log.
///
/// One write a message on the thread that logs: messages are few, and none is made on the hit path.
struct DaemonLogHandler: LogHandler {
    var logLevel: Logger.Level {
        get { ownLevel ?? threshold.value }
        set { ownLevel = newValue }
    }
    var metadata: Logger.Metadata = [:]
    private let label: String
    private let threshold: CurrentValue<Logger.Level>
    /// The level set for this logger alone.
    private var ownLevel: Logger.Level?
    private let format: LogConfiguration.Format
    private let sink: LogSink

    /// A handler for the logger `label`, with `auto` resolved in `configuration`.
    init(
        label: String, configuration: LogConfiguration, threshold: CurrentValue<Logger.Level>? = nil,
        sink: LogSink
    ) {
        self.label = label
        self.threshold = threshold ?? CurrentValue(Logger.Level(configuration.level))
        self.sink = sink
        format = configuration.format
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let values = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
        var fields = values.map { LogEntry.Field($0.key, "\($0.value)") }
        fields.append(LogEntry.Field("logger", label))
        if let error = event.error { fields.append(LogEntry.Field("error", "\(error)")) }
        let entry = LogEntry(
            milliseconds: SystemTime.nanoseconds(of: CLOCK_REALTIME) / 1_000_000,
            level: LogConfiguration.Level(event.level), message: "\(event.message)", fields: fields)
        // Lost when standard error or the journal is closed: there is nowhere left to report it.
        _ = sink.write(entry.bytes(as: format))
    }
}

// Both have the same words; a test compares them.

extension Logger.Level {
    /// The `Logger`'s name of a level.
    init(_ level: LogConfiguration.Level) { self = Logger.Level(rawValue: level.rawValue) ?? .critical }
}

extension LogConfiguration.Level {
    /// The settings' name of a level.
    init(_ level: Logger.Level) { self = Self(rawValue: level.rawValue) ?? .critical }
}
