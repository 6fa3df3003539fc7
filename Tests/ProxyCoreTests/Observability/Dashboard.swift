// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import Observability

/// Makes Grafana's dashboard from the table of metrics: a few panels chosen by hand, and one for each family, with its limit
/// if there is one.
struct Dashboard {
    /// One curve, or one for each set of labels.
    private struct Curve {
        var expression: String
        var legend: String
    }

    private struct Panel {
        var title: String
        var help: String
        var unit: String
        var curves: [Curve]
    }

    private let families: [any MetricFamily]
    private var panels: [[String: Any]] = []
    private var place = (x: 0, y: 0)

    /// The job, since other programs have metrics of their processes, too.
    private static let chosen = #"job="imageproxyd",instance=~"$instance""#
    private static let selector = "{\(chosen)}"
    private static let columns = 24
    private static let size = (width: 8, height: 7)

    /// The rows of the dashboard: how the names begin, without the prefix; the process has its own.
    private static let sections: [(title: String, prefixes: [String])] = [
        ("Requests", ["http_"]),
        ("Caches", ["cache_", "coalesced", "tasks", "failed_"]),
        ("Fetches", ["fetch_", "host_"]),
        ("Transforms and workers", ["transform_", "worker"]),
        ("Shared tier and cluster", ["shared_", "cluster_"]),
        ("Prefetching", ["prefetch_"]),
        ("Settings, logs and traces", ["reloads_", "last_reload_", "access_log_", "trace_", "build_"]),
    ]

    /// Families whose names begin as no section says.
    struct NoSection: Error {
        let names: [String]
    }

    /// The dashboard as JSON.
    static func text(of families: [any MetricFamily]) throws -> String {
        var dashboard = Dashboard(families)
        dashboard.addGlance()
        try dashboard.addFamilies()
        return try dashboard.json()
    }

    private init(_ families: [any MetricFamily]) { self.families = families }

    // MARK: - Panels by hand

    private mutating func addGlance() {
        addRow("At a glance")
        let all = "{\(Self.chosen)," + #"route=~"img|info|srcset""#
        let rate = "[$__rate_interval]))"
        func quantile(_ share: String) -> Curve {
            let name = "imageproxyd_http_request_duration_seconds_bucket"
            return Curve(
                expression: "histogram_quantile(\(share), sum by (le) (rate(\(name)\(all)}\(rate))",
                legend: "p" + share.dropFirst(2))
        }
        let requests = "imageproxyd_http_request_duration_seconds_count"
        add(
            Panel(
                title: "Requests for pictures", help: "By status.", unit: "reqps",
                curves: [
                    Curve(
                        expression: "sum by (status) (rate(imageproxyd_http_requests_total\(all)}\(rate)",
                        legend: "{{status}}")
                ]))
        add(
            Panel(
                title: "Failures", help: "By where the fault lies.", unit: "reqps",
                curves: [
                    Curve(
                        expression: "sum by (cause) (rate(imageproxyd_http_failures_total\(all)}\(rate)",
                        legend: "{{cause}}")
                ]))
        let hits = #",cache=~"memory|disk|stale|shared"}"#
        add(
            Panel(
                title: "Hit ratio", help: "Answers from stored results, of all.", unit: "percentunit",
                curves: [
                    Curve(
                        expression:
                            "sum(rate(\(requests)\(all)\(hits)\(rate) / sum(rate(\(requests)\(all)}\(rate)",
                        legend: "hits")
                ]))
        add(
            Panel(
                title: "Time of answers", help: "To the last byte that the client takes.", unit: "s",
                curves: ["0.50", "0.95", "0.99"].map(quantile)))
    }

    // MARK: - Panels by the table

    private mutating func addFamilies() throws {
        let sections =
            Self.sections.map { ($0.title, $0.prefixes.map { "imageproxyd_" + $0 }) }
            + [("Process", ["process_"])]
        var left = families.filter { level(boundedBy: $0) == nil }
        for (title, prefixes) in sections {
            let chosen = left.filter { family in prefixes.contains(where: family.row.name.hasPrefix) }
            left.removeAll { family in chosen.contains { $0.row == family.row } }
            addRow(title)
            for family in chosen { add(panel(family)) }
        }
        guard left.isEmpty else { throw NoSection(names: left.map(\.row.name)) }
    }

    private func panel(_ family: any MetricFamily) -> Panel {
        let name = family.row.name
        var curves = curves(family)
        for limit in families where level(boundedBy: limit) == name {
            curves.append(
                Curve(
                    expression: sum(limit.row.name + Self.selector, by: limit.labels),
                    legend: legend(limit.labels, otherwise: "limit") + (limit.labels.isEmpty ? "" : " limit"))
            )
        }
        return Panel(
            title: title(of: family.row), help: family.row.help, unit: unit(of: family.row), curves: curves)
    }

    /// The name of the level whose capacity this is; nil for another metric.
    private func level(boundedBy limit: any MetricFamily) -> String? {
        let name = limit.row.name
        if name == "process_max_fds" { return "process_open_fds" }
        return name.contains("_limit") ? name.replacing("_limit", with: "") : nil
    }

    private func curves(_ family: any MetricFamily) -> [Curve] {
        let name = family.row.name
        switch family.row.kind {
        case .counter:
            return [
                Curve(
                    expression: sum("rate(\(name)\(Self.selector)[$__rate_interval])", by: family.labels),
                    legend: legend(family.labels, otherwise: "per second"))
            ]
        case .gauge where name == "process_start_time_seconds":
            return [Curve(expression: "time() - \(name)\(Self.selector)", legend: "{{instance}}")]
        case .gauge:
            return [
                Curve(
                    expression: sum(name + Self.selector, by: family.labels),
                    legend: legend(family.labels, otherwise: "now"))
            ]
        case .histogram:
            return ["0.50", "0.95", "0.99"].map { share in
                Curve(
                    expression:
                        "histogram_quantile(\(share), sum by (le) (rate(\(name)_bucket\(Self.selector)[$__rate_interval])))",
                    legend: "p" + share.dropFirst(2))
            }
        }
    }

    private func sum(_ expression: String, by labels: [MetricLabel]) -> String {
        let names = labels.map(\.name).joined(separator: ", ")
        return "sum\(names.isEmpty ? "" : " by (\(names)) ")(\(expression))"
    }

    private func legend(_ labels: [MetricLabel], otherwise text: String) -> String {
        labels.isEmpty ? text : labels.map { "{{\($0.name)}}" }.joined(separator: " ")
    }

    private func title(of row: MetricRow) -> String {
        if row.name == "process_start_time_seconds" { return "Process uptime" }
        let spelled = ["http": "HTTP", "urls": "URLs", "url": "URL", "cpu": "CPU", "fds": "descriptors"]
        let words = row.name.replacing("imageproxyd_", with: "").split(separator: "_").map(String.init)
        let text = words.filter { !["total", "seconds"].contains($0) }.map { spelled[$0] ?? $0 }
            .joined(separator: " ")
        return text.prefix(1).uppercased() + text.dropFirst()
            + (row.kind == .counter ? ", per second" : row.kind == .histogram ? ", percentiles" : "")
    }

    private func unit(of row: MetricRow) -> String {
        let name = row.name.replacing("_total", with: "")
        if name == "process_cpu_seconds" { return "percentunit" }
        if name.hasSuffix("bytes") { return row.kind == .counter ? "Bps" : "bytes" }
        if name.hasSuffix("seconds") { return "s" }
        return row.kind == .counter ? "ops" : "short"
    }

    // MARK: - JSON

    private mutating func addRow(_ title: String) {
        if place.x > 0 { place = (0, place.y + Self.size.height) }
        panels.append([
            "type": "row", "title": title, "id": panels.count + 1, "collapsed": false, "panels": [Any](),
            "gridPos": ["x": 0, "y": place.y, "w": Self.columns, "h": 1],
        ])
        place.y += 1
    }

    private mutating func add(_ panel: Panel) {
        if place.x + Self.size.width > Self.columns { place = (0, place.y + Self.size.height) }
        let source = ["type": "prometheus", "uid": "${datasource}"]
        let targets: [[String: Any]] = panel.curves.enumerated().map { index, curve in
            [
                "datasource": source, "expr": curve.expression, "legendFormat": curve.legend,
                "refId": String(UnicodeScalar(UInt8(ascii: "A") + UInt8(index))),
            ]
        }
        panels.append([
            "type": "timeseries", "title": panel.title, "description": panel.help, "id": panels.count + 1,
            "datasource": source, "targets": targets,
            "gridPos": ["x": place.x, "y": place.y, "w": Self.size.width, "h": Self.size.height],
            "fieldConfig": ["defaults": ["unit": panel.unit, "min": 0], "overrides": [Any]()],
            "options": [
                "legend": ["displayMode": "list", "placement": "bottom", "showLegend": true],
                "tooltip": ["mode": "multi", "sort": "desc"],
            ],
        ])
        place.x += Self.size.width
    }

    private func json() throws -> String {
        let variables: [[String: Any]] = [
            ["name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"],
            [
                "name": "instance", "label": "Instance", "type": "query", "multi": true, "includeAll": true,
                "allValue": ".*", "refresh": 2, "datasource": ["type": "prometheus", "uid": "${datasource}"],
                "query": ["query": "label_values(imageproxyd_build_info, instance)", "refId": "A"],
            ],
        ]
        let dashboard: [String: Any] = [
            "title": "imageproxyd", "uid": "imageproxyd", "schemaVersion": 38, "version": 1,
            "editable": true,
            "tags": ["imageproxyd"], "timezone": "", "refresh": "30s", "graphTooltip": 1,
            "time": ["from": "now-6h", "to": "now"], "templating": ["list": variables], "panels": panels,
        ]
        let data = try JSONSerialization.data(
            withJSONObject: dashboard, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        return String(decoding: data, as: UTF8.self) + "\n"
    }
}
