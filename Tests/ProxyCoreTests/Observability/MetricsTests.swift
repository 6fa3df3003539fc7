// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Observability

@Suite("Metrics")
struct MetricsTests {
    private let metrics = Metrics(loops: 2, version: "1.2.3")

    private func text(_ format: PrometheusText.Format = .prometheus) -> String {
        PrometheusText.text(of: metrics.families + ProcessMetrics.families(), as: format)
    }

    @Test("A counter is the sum of the counts of all loops and threads")
    func countersSum() {
        metrics.httpRequests.increment(.img, 200)
        metrics.httpRequests.increment(.img, 200, on: .loop(0))
        metrics.httpRequests.increment(.img, 200, on: .loop(1))
        metrics.httpRequests.increment(.img, 304, on: .loop(1))

        #expect(metrics.httpRequests.value(LabelPair(.img, 200)) == 3)
        #expect(text().contains("imageproxyd_http_requests_total{route=\"img\",status=\"304\"} 1\n"))
    }

    @Test("A share beyond those allocated counts all the same")
    func shardsWrap() {
        for loop in 0..<100 { metrics.fetchBytes.add(2, on: .loop(loop)) }

        #expect(metrics.fetchBytes.value(NoLabels()) == 200)
    }

    @Test("Concurrent counting loses nothing")
    func countersAreAtomic() async {
        await withTaskGroup { group in
            for loop in 0..<8 {
                group.addTask { [metrics] in
                    for _ in 0..<10_000 { metrics.coalescedRequests.increment(.fetch, on: .loop(loop)) }
                }
            }
        }

        #expect(metrics.coalescedRequests.value(.fetch) == 80_000)
    }

    @Test("Every combination of labels has a number of its own")
    func labelNumbers() {
        typealias Labels = LabelPair<LabelPair<Metric.SharedTask, Metric.Phase>, Metric.Improvement>
        let all = Metric.SharedTask.allCases.flatMap { task in
            Metric.Phase.allCases.flatMap { phase in
                Metric.Improvement.allCases.map { Labels(LabelPair(task, phase), $0) }
            }
        }

        #expect(all.map(\.index) == Array(0..<Labels.count))
        #expect(all.map { Labels.values(at: $0.index) }.last == ["transform", "body", "refused"])
        #expect(Labels.names == ["task", "phase", "outcome"])
    }

    @Test("A duration goes into the first bucket whose bound is not below it")
    func histogramBounds() {
        metrics.httpRequestDuration.observe(nanoseconds: 50_000, .img, .memory)
        metrics.httpRequestDuration.observe(nanoseconds: 50_001, .img, .memory)
        metrics.httpRequestDuration.observe(nanoseconds: 3_600_000_000_000, .img, .memory)

        let name = "imageproxyd_http_request_duration_seconds"
        let labels = "route=\"img\",cache=\"memory\""
        #expect(text().contains("\(name)_bucket{\(labels),le=\"0.00005\"} 1\n"))
        #expect(text().contains("\(name)_bucket{\(labels),le=\"0.0001\"} 2\n"))
        #expect(text().contains("\(name)_bucket{\(labels),le=\"30.0\"} 2\n"))
        #expect(text().contains("\(name)_bucket{\(labels),le=\"+Inf\"} 3\n"))
        #expect(text().contains("\(name)_sum{\(labels)} 3600.000100001\n"))
        #expect(metrics.httpRequestDuration.count(LabelPair(.img, .memory)) == 3)
    }

    @Test("Values of other modules are read at each scrape")
    func readings() {
        let bytes = Observed(41)
        metrics.cacheBytes.observe("memory", "result") { bytes.value }
        bytes.update { $0 = 42 }

        #expect(text().contains("imageproxyd_cache_bytes{tier=\"memory\",kind=\"result\"} 42\n"))
    }

    @Test("A metric without a source is not printed, a counter with few series is printed at 0")
    func silence() {
        #expect(!text().contains("imageproxyd_workers"))
        #expect(text().contains("imageproxyd_coalesced_requests_total{task=\"fetch\"} 0\n"))
        #expect(!text().contains("imageproxyd_http_requests_total"))
    }

    @Test("Every property is a metric of the catalogue, under a name of its own")
    func nothingIsForgotten() {
        #expect(metrics.families.count == Mirror(reflecting: metrics).children.count)
        #expect(Set(metrics.families.map(\.row.name)).count == metrics.families.count)
    }

    @Test(
        "Names follow the conventions: counters end in _total, histograms in _seconds, all begin with the prefix"
    )
    func names() {
        for row in metrics.families.map(\.row) {
            #expect(row.name.hasPrefix("imageproxyd_"))
            #expect(row.name.hasSuffix("_total") == (row.kind == .counter), "\(row.name)")
            #expect(row.kind != .histogram || row.name.hasSuffix("_seconds"), "\(row.name)")
            #expect(row.help.hasSuffix("."))
        }
    }
}
