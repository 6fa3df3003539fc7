// SPDX-License-Identifier: Apache-2.0

extension AccessRecord {
    /// The record as an entry of a log.
    ///
    /// In the journal the message is a sentence, since `journalctl` shows nothing else of an entry; elsewhere
    /// the values are in the same line.
    func entry(at milliseconds: Int64, as format: LogConfiguration.Format) -> LogEntry {
        LogEntry(
            milliseconds: milliseconds, level: .info, message: format == .journald ? sentence : "request",
            fields: fields)
    }

    private var shownPath: String { path.isEmpty ? route.path : path.string }

    private var fields: [LogEntry.Field] {
        typealias Field = LogEntry.Field
        var fields = [
            Field("method", "\(method)"), Field("path", shownPath), Field("route", route.label),
            Field("status", status), Field("bytes", bytes), Field("cache", cache.label),
            Field("duration_us", Int(duration / 1_000)), Field("client", "\(client)"),
        ]
        if !requestID.isEmpty { fields.append(Field("request_id", requestID.string)) }
        if let traceID { fields.append(Field("trace_id", Self.digits(ofTrace: traceID))) }
        return fields + (additional?.fields ?? [])
    }

    /// `GET /img 502 upstream_unreachable example.org:81 connection refused 118B 12ms`: method, path, status, the problem or
    /// else the cache's part, the source, the origin's status, the reason, the size and the time.
    ///
    /// One line of printable characters, whatever a client or an origin has put into its parts.
    private var sentence: String {
        var words = ["\(method)", shownPath, "\(status)"]
        let miss = additional
        words.append(miss.flatMap { $0.problem.isEmpty ? nil : $0.problem } ?? cache.label)
        words += miss?.words ?? []
        words += [Self.text(ofBytes: bytes), Self.text(ofNanoseconds: duration)]
        return words.map(LogEntry.visible).joined(separator: " ")
    }

    private static func text(ofBytes count: Int) -> String {
        switch count {
        case ..<10_000: "\(count)B"
        case ..<10_000_000: "\(count / 1_000)kB"
        default: "\(count / 1_000_000)MB"
        }
    }

    private static func text(ofNanoseconds duration: UInt64) -> String {
        duration < 1_000_000 ? "\(duration / 1_000)us" : "\(duration / 1_000_000)ms"
    }
}

extension AccessRecord.Miss {
    /// The values that there are, by name, in the order of the lines.
    package var fields: [LogEntry.Field] {
        let all: [LogEntry.Field] = [
            .init("url_host", host), .init("url_port", port), .init("url", url), .init("purge", purge),
            .init("queue_us", queue), .init("fetch_us", fetch), .init("decode_us", decode),
            .init("transform_us", transform), .init("encode_us", encode), .init("problem", problem),
            .init("parameter", parameter), .init("upstream_status", upstreamStatus), .init("reason", reason),
            .init("hop", hop), .init("address_family", families), .init("redirects", redirects),
        ]
        return all.filter { $0.value != .number(0) && $0.value != .text("") }
    }

    /// The sentence's words about the source and the failure.
    fileprivate var words: [String] {
        let place = !url.isEmpty ? url : host.isEmpty ? "" : "\(host):\(port)"
        let status = upstreamStatus > 0 ? "origin answered \(upstreamStatus)" : ""
        let hop = hop.isEmpty ? "" : "at \(hop)"
        return [place, status, reason, hop].filter { !$0.isEmpty }
    }
}
