// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Observability

@Suite("The dashboard and the alerts")
struct DashboardTests {
    private let families = Metrics(loops: 1, version: "").families + ProcessMetrics.families()

    @Test("deploy/grafana/imageproxyd.json is made from the table of metrics, and shows each")
    func isComplete() throws {
        let text = try Dashboard.text(of: families)

        #expect(GeneratedFile("deploy/grafana/imageproxyd.json").holds(text), "run: make documents")
        for row in families.map(\.row) { #expect(text.contains(row.name), "\(row.name)") }
        #expect(MetricNames.mentioned(in: text).subtracting(MetricNames.known) == [])
    }

    @Test(
        "Every metric that an alert, a runbook or a page names exists",
        arguments: [
            "deploy/prometheus/alerts.yml", "deploy/prometheus/alerts.test.yml", "docs/metrics.md",
            "docs/scaling.md",
        ] + Self.runbooks)
    func namesExist(path: String) {
        let text = TextFiles.read(path)
        // A page may name a family of histograms without the ending of a sample.
        let families = Set(families.map(\.row.name))

        let unknown = MetricNames.mentioned(in: text).subtracting(MetricNames.known).subtracting(families)
        #expect(unknown == [], "\(path)")
    }

    @Test("A capacity is named after the level that it bounds")
    func limits() {
        let names = Set(families.map(\.row.name))
        let limits = names.filter { $0.contains("_limit") }

        #expect(limits.count >= 6)
        for limit in limits { #expect(names.contains(limit.replacing("_limit", with: "")), "\(limit)") }
    }

    private static let runbooks: [String] = {
        let alerts = TextFiles.read("deploy/prometheus/alerts.yml")
        return alerts.matches(of: /docs\/runbooks\/([a-z-]+)\.html/).map { "docs/runbooks/\($0.1).md" }
    }()
}
