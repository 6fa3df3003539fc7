// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Observability

@Suite("Text of the metrics")
struct PrometheusTextTests {
    /// Metrics in which every family has something to say.
    private var families: [any MetricFamily] {
        let metrics = Metrics(loops: 1, version: "a \"b\" \\ c\nd")
        metrics.httpRequests.increment(.img, 200)
        metrics.httpRequestDuration.observe(nanoseconds: 1_234, .img, .memory)
        metrics.fetchDuration.observe(nanoseconds: 5_000_000, .ok)
        metrics.transformDuration.observe(nanoseconds: 5_000_000, .webp)
        metrics.transforms.increment(.webp, .ok)
        for case let family as MetricReading in metrics.families
        where family.row.name != "imageproxyd_build_info" {
            let labels = family.labels.map { "some \($0.name)" }
            family.collect { [MetricReading.Reading(labels, 7)] }
        }
        return metrics.families + ProcessMetrics.families()
    }

    @Test(
        "Both formats parse strictly, and contain every family once",
        arguments: PrometheusText.Format.allCases)
    func parses(format: PrometheusText.Format) throws {
        let families = self.families

        let parsed = try ExpositionParser.parse(
            PrometheusText.text(of: families, as: format), openMetrics: format == .openMetrics)

        #expect(parsed.count == families.count)
        #expect(parsed.allSatisfy { !$0.help.isEmpty && !$0.samples.isEmpty })
    }

    @Test("Samples have the same names in both formats")
    func sameNames() throws {
        let prometheus = try ExpositionParser.parse(
            PrometheusText.text(of: families, as: .prometheus), openMetrics: false)
        let openMetrics = try ExpositionParser.parse(
            PrometheusText.text(of: families, as: .openMetrics), openMetrics: true)

        #expect(
            Set(prometheus.flatMap(\.samples).map(\.name)) == Set(openMetrics.flatMap(\.samples).map(\.name)))
    }

    @Test("Label values are escaped")
    func escapes() throws {
        let parsed = try ExpositionParser.parse(
            PrometheusText.text(of: families, as: .prometheus), openMetrics: false)

        let build = try #require(parsed.first { $0.name == "imageproxyd_build_info" }?.samples.first)
        #expect(build.labels == ["version": "a \"b\" \\ c\nd"])
        #expect(build.value == 1)
    }

    @Test("OpenMetrics names a counter without _total, unless a gauge has that name")
    func openMetricsCounters() throws {
        let parsed = try ExpositionParser.parse(
            PrometheusText.text(of: families, as: .openMetrics), openMetrics: true)
        let types = Dictionary(uniqueKeysWithValues: parsed.map { ($0.name, $0.type) })

        #expect(types["imageproxyd_http_requests"] == "counter")
        #expect(types["imageproxyd_http_connections"] == "gauge")
        #expect(types["imageproxyd_http_connections_total"] == "unknown")
        #expect(parsed.first { $0.name == "imageproxyd_fetch_duration_seconds" }?.unit == "seconds")
    }

    @Test(
        "Accept chooses the format",
        arguments: [
            (nil, .prometheus), ("", .prometheus), ("*/*", .prometheus), ("text/plain", .prometheus),
            ("application/openmetrics-text", .openMetrics),
            (
                "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1",
                .openMetrics
            ),
            ("application/openmetrics-text;q=0.2, text/plain;q=0.8", .prometheus),
            ("Application/OpenMetrics-Text ; q=0", .prometheus),
        ] as [(String?, PrometheusText.Format)])
    func negotiation(accept: String?, format: PrometheusText.Format) {
        #expect(PrometheusText.Format(accept: accept) == format)
    }
}

@Suite("Metrics of the process")
struct ProcessMetricsTests {
    @Test("/proc/self/stat is parsed although the command's name contains parentheses and spaces")
    func hostileName() throws {
        let stat =
            "7 (a ) b (c) S 1 7 7 0 -1 0 0 0 0 0 150 50 0 0 20 0 9 0 300 4096000 25 18446744073709551615 1"

        let facts = try #require(
            ProcessMetrics.facts(
                stat: stat, bootTime: 1_000, ticksPerSecond: 100, pageSize: 4_096))

        #expect(facts.cpuSeconds == 2)
        #expect(facts.threads == 9)
        #expect(facts.startTime == 1_003)
        #expect(facts.virtualBytes == 4_096_000)
        #expect(facts.residentBytes == 102_400)
    }

    @Test(
        "A text that is not in the format of proc(5) gives nothing",
        arguments: ["", "7 (a) S", "7 a S 1", "7 (a) S x y"])
    func invalidStat(stat: String) {
        #expect(
            ProcessMetrics.facts(stat: stat, bootTime: 1, ticksPerSecond: 100, pageSize: 1) == nil)
    }

    @Test("This process has used memory, descriptors and threads")
    func real() throws {
        let text = PrometheusText.text(of: ProcessMetrics.families(), as: .prometheus)
        let families = try ExpositionParser.parse(text, openMetrics: false)

        #expect(families.count == 7)
        #expect(families.allSatisfy { ($0.samples.first?.value ?? -1) >= ($0.type == "gauge" ? 1 : 0) })
    }
}
