// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// What is logged, how and how much. Configuration: `log`.
package struct LogConfiguration: SettingGroup {
    package var level = Level.info
    package var format = Format.auto
    package var access = Access.auto
    package var url = URLDetail.host
    package var accessRecords = 4_096

    /// Creates the defaults.
    package init() {}

    package static let settings = SettingTable<Self>("What is logged.", reload: .needsRestart) {
        Setting("level", \.level, reload: .takes, "The least severe messages that are written.")
        Setting(
            "format", \.format,
            "How lines are written; `auto` is `journald` when standard error is the journal's, else `text`.")
        Setting(
            "access", \.access,
            "Which requests get a line; `auto` is `misses` when the format is `journald`, else `all`.")
        Setting("url", \.url, "How much of a source's URL a request's line contains.")
        Setting(
            "accessRecords", \.accessRecords, in: 16...65_536,
            """
            Access-log records that may wait for the writer, for each event loop; beyond it records are dropped and counted
            in `imageproxyd_access_log_dropped_total`.
            """)
    }

    /// How severe a message is.
    package enum Level: String, SettingValue, CaseIterable {
        /// Everything.
        case trace
        /// For developers.
        case debug
        /// For operators.
        case info
        /// Normal, but noteworthy.
        case notice
        /// Something was lost or is about to be.
        case warning
        /// An operation failed.
        case error
        /// The daemon can't continue.
        case critical

        /// The journal's number for it (syslog(3)).
        package var priority: Int {
            switch self {
            case .trace, .debug: 7
            case .info: 6
            case .notice: 5
            case .warning: 4
            case .error: 3
            case .critical: 2
            }
        }
    }

    /// How lines are written.
    package enum Format: String, SettingValue, CaseIterable {
        /// Chosen by where standard error leads.
        case auto
        /// A line of time, level, message and `key=value`.
        case text
        /// A JSON object a line.
        case json
        /// The journal's own protocol, with a field for each value.
        case journald
    }

    /// How much of a source's URL a request's line contains; user names, passwords and secrets of the query
    /// never.
    package enum URLDetail: String, SettingValue, CaseIterable {
        /// Nothing, not even the host.
        case none
        /// Host and port.
        case host
        /// Host and port, and the URL without its query.
        case path
        /// Host and port, and the URL, with `***` in place of each value of its query that may be a secret.
        case full
    }

    /// Which requests get a line in the access log.
    package enum Access: String, SettingValue, CaseIterable {
        /// Chosen by the format.
        case auto
        /// Every request.
        case all
        /// Requests that stored bytes could not answer, and errors.
        case misses
        /// Answers of 400 and above.
        case errors
        /// None.
        case off

        /// Hot path: whether a request gets a line. `auto`, which has been resolved before, counts as `all`.
        @inlinable
        package func wants(status: Int, cache: Metric.Cache) -> Bool {
            switch self {
            case .auto, .all: true
            case .misses: status >= 400 || !cache.isHit
            case .errors: status >= 400
            case .off: false
            }
        }
    }

    /// Returns the settings with `auto` replaced by its meaning if standard error is the journal's, or not.
    package func resolved(underJournal: Bool) -> LogConfiguration {
        var settings = self
        if format == .auto { settings.format = underJournal ? .journald : .text }
        if access == .auto { settings.access = settings.format == .journald ? .misses : .all }
        return settings
    }
}
