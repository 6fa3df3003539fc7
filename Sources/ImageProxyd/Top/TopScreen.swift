// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The text of `imageproxyd top`.
struct TopScreen {
    /// A line, and whether it is a heading.
    struct Line: Equatable {
        var text: String
        var isHeading = false
    }

    let window: StatsWindow
    /// The maximum number of rows of each table.
    var maxRows = 10

    /// The names of tiers as they are shown, the ones of hits first.
    private static let tiers: KeyValuePairs = [
        "memory": "memory", "disk": "disk", "stale": "stale", "shared": "shared", "collapsed": "joined",
        "revalidated": "revalidated", "original": "original", "miss": "fetched", "failure": "remembered",
        "none": "failed",
    ]

    /// All lines, for a window of `now` seconds since 1970.
    func lines(at now: Int) -> [Line] {
        summary(at: now).map { Line(text: $0) } + tables.flatMap { [Line(text: "")] + $0 }
    }

    // MARK: - Summary

    private func summary(at now: Int) -> [String] {
        let last = window.last
        return [
            "imageproxyd \(Self.printable(last.text("version"))), up \(Int64(max(0, now - last.int("started"))).asDuration), "
                + "last \(Int(window.seconds.rounded())) s: \(Self.number(window.rate(window.requests))) requests/s, "
                + "\(ByteCount(Int(window.rate(window.growth("bytes")))).rounded)/s, "
                + "\(Self.number(window.rate(window.failures))) failures/s",
            "hits: \(Self.percent(window.hitRatio))   of all: "
                + Self.tiers.map { "\($0.value) \(Self.percent(window.share($0.key)))" }.joined(
                    separator: "  "),
            "latency: p50 \(Self.time(window.quantile(0.5)))  p90 \(Self.time(window.quantile(0.9)))  "
                + "p99 \(Self.time(window.quantile(0.99)))   connections: \(last.int("connections"))",
            "workers: \(last.int("workers", "busy")) busy, \(last.int("workers", "idle")) idle, "
                + "\(last.int("workers", "starting")) starting   waiting: \(last.int("queues", "transform")) pictures, "
                + "\(last.int("queues", "fetch")) fetches, \(last.int("queues", "improvement")) improvements   "
                + "fetching: \(last.int("queues", "fetching"))",
            "memory: \(ByteCount(last.int("memory", "resident")).rounded), tier \(ByteCount(last.int("memory", "cache")).rounded) in "
                + "\(last.int("memory", "cacheEntries")) entries   disk: \(ByteCount(last.int("memory", "disk")).rounded) in "
                + "\(last.int("memory", "diskEntries")) entries",
        ]
    }

    // MARK: - Tables

    private var tables: [[Line]] {
        let recent = { (name: String) in Array(window.last.rows("recent", name).prefix(maxRows)) }
        return [
            Self.table(
                ["HOST", "ANSWERS", "FAILED", "FETCH/ANSWER", "SENT"],
                recent("hosts").map { row in
                    [
                        row.text("host"), "\(row.int("count"))", "\(row.int("failures"))",
                        Self.mean(row.int("fetchMicroseconds"), of: row.int("count")),
                        ByteCount(row.int("bytes")).rounded,
                    ]
                }),
            Self.table(
                ["PRESET", "ANSWERS", "FAILED", "WORK/ANSWER"],
                recent("presets").map { row in
                    [
                        row.text("preset"), "\(row.int("count"))", "\(row.int("failures"))",
                        Self.mean(row.int("workMicroseconds"), of: row.int("count")),
                    ]
                }),
            Self.table(
                ["SLOW TRANSFORM", "WORKER", "DECODE", "TRANSFORM", "ENCODE", "WAITED"],
                recent("slow").map { row in
                    let steps = ["decode", "transform", "encode"].map { row.int("\($0)Microseconds") }
                    let all = [steps.reduce(0, +)] + steps + [row.int("queueMicroseconds")]
                    return [row.text("source").isEmpty ? row.text("request") : row.text("source")]
                        + all.map { Self.time(Double($0)) }
                }),
            Self.table(
                ["FAILURE", "COUNT", "STATUS", "LAST HOST", "LAST REASON"],
                recent("failures").map { row in
                    [
                        row.text("code"), "\(row.int("count"))", "\(row.int("status"))", row.text("host"),
                        row.text("reason"),
                    ]
                }, texts: [0, 3, 4]),
        ].filter { !$0.isEmpty }
    }

    /// The widest first column.
    private static let maxNameWidth = 48

    /// A table whose columns are as wide as they need be; empty without rows.
    /// - Parameter texts: the columns that are aligned to the left.
    private static func table(_ head: [String], _ rows: [[String]], texts: Set<Int> = [0]) -> [Line] {
        guard !rows.isEmpty else { return [] }
        let cells = ([head] + rows).map { row in row.map { cut(printable($0), to: maxNameWidth) } }
        let widths = head.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        let lines = cells.map { row in
            let padded = row.enumerated().map { column, text in
                let spaces = String(repeating: " ", count: widths[column] - text.count)
                return texts.contains(column) ? text + spaces : spaces + text
            }
            let line = padded.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
        return lines.enumerated().map { Line(text: $1, isHeading: $0 == 0) }
    }

    private static func mean(_ microseconds: Int, of count: Int) -> String {
        count > 0 && microseconds > 0 ? time(Double(microseconds) / Double(count)) : "-"
    }

    static func cut(_ text: String, to width: Int) -> String {
        text.count <= width ? text : String(text.prefix(max(0, width - 1))) + "…"
    }

    /// A text without what a terminal would execute: origins and clients choose some of it.
    static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
                        .paragraphSeparator:
                        "?"
                    default: scalar
                    }
                }))
    }

    // MARK: - Numbers

    private static func number(_ value: Double) -> String {
        value < 10 ? value.inTenths : "\(Int(value.rounded()))"
    }

    private static func percent(_ part: Double?) -> String {
        part.map { ($0 * 100).inTenths + "%" } ?? "-"
    }

    private static func time(_ microseconds: Double?) -> String {
        guard let microseconds else { return "-" }
        switch microseconds {
        case ..<1_000: return "\(Int(microseconds.rounded())) µs"
        case ..<10_000: return (microseconds / 1_000).inTenths + " ms"
        case ..<1_000_000: return "\(Int((microseconds / 1_000).rounded())) ms"
        default: return (microseconds / 1_000_000).inTenths + " s"
        }
    }
}
