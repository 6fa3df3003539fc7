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
        return fields + (miss?.fields ?? [])
    }

    /// `GET /img 502 upstream_unreachable example.org:81 connection refused 12ms`: method, path, status, the problem or else
    /// the cache's part, the source, the origin's status, the reason, and the time.
    ///
    /// One line of printable characters, whatever a client or an origin has put into its parts.
    private var sentence: String {
        var words = ["\(method)", shownPath, "\(status)"]
        words.append(miss.flatMap { $0.problem.isEmpty ? nil : $0.problem } ?? cache.label)
        words += miss?.words ?? []
        words.append(Self.text(ofNanoseconds: duration))
        return words.map(LogEntry.visible).joined(separator: " ")
    }

    private static func text(ofNanoseconds duration: UInt64) -> String {
        duration < 1_000_000 ? "\(duration / 1_000)us" : "\(duration / 1_000_000)ms"
    }
}

extension AccessRecord.Miss {
    /// The values that there are, by name, in the order of the lines that `AccessLine` writes.
    package var fields: [LogEntry.Field] {
        typealias Field = LogEntry.Field
        let texts = [
            ("url_host", host), ("url", url), ("purge", purge), ("problem", problem),
            ("parameter", parameter),
            ("reason", reason), ("hop", hop),
        ]
        let numbers = [
            ("url_port", port), ("queue_us", queue), ("fetch_us", fetch), ("decode_us", decode),
            ("transform_us", transform), ("encode_us", encode), ("upstream_status", upstreamStatus),
        ]
        let fields =
            texts.filter { !$0.1.isEmpty }.map { Field($0.0, $0.1) }
            + numbers.filter { $0.1 > 0 }.map { Field($0.0, $0.1) }
        // In the order of the lines that `AccessLine` writes.
        let order = [
            "url_host", "url_port", "url", "purge", "queue_us", "fetch_us", "decode_us", "transform_us",
            "encode_us",
            "problem", "parameter", "upstream_status", "reason", "hop",
        ]
        return order.compactMap { name in fields.first { $0.name == name } }
    }

    /// The sentence's words about the source and the failure.
    fileprivate var words: [String] {
        let place = !url.isEmpty ? url : host.isEmpty ? "" : "\(host):\(port)"
        let status = upstreamStatus > 0 ? "origin answered \(upstreamStatus)" : ""
        let hop = hop.isEmpty ? "" : "at \(hop)"
        return [place, status, reason, hop].filter { !$0.isEmpty }
    }
}
