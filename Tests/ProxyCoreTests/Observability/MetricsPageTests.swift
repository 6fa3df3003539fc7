// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Observability

@Suite("The page of metrics")
struct MetricsPageTests {
    /// Labels with more values, such as status codes, are described by their name alone.
    private static let mostValues = 30

    @Test("docs/metrics.md has every metric with its type, its labels with their values, and its help")
    func isComplete() {
        let families = Metrics(loops: 1, version: "").families + ProcessMetrics.families()
        let rows = families.map { family in
            let labels = family.labels.map(Self.description).joined(separator: "; ")
            return "| `\(family.row.name)` | \(family.row.kind.rawValue) | \(labels) | \(family.row.help) |\n"
        }
        let table = "\n| metric | type | labels | |\n|---|---|---|---|\n" + rows.joined()
        #expect(GeneratedPage("docs/metrics.md").ends(with: table), "run: make documents")
    }

    private static func description(_ label: MetricLabel) -> String {
        let values = label.values.count > mostValues ? [] : label.values
        return "`\(label.name)`" + (values.isEmpty ? "" : ": " + values.joined(separator: ", "))
    }
}
