// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("Prometheus, its alerts and the dashboard")
struct PrometheusTests {
    private static let promtool = "/usr/bin/promtool"

    private func promtool(_ arguments: String...) async throws -> OtherProgram.Outcome {
        try await OtherProgram.run(Self.promtool, arguments)
    }

    @Test(
        "promtool accepts the rules and the configuration, and each alert fires and does not fire as its cases say"
    )
    func rules() async throws {
        let folder = TextFiles.path("deploy/prometheus")
        let runs = [
            try await promtool("check", "rules", folder + "/alerts.yml"),
            try await promtool("check", "config", folder + "/prometheus.yml"),
            try await promtool("test", "rules", folder + "/alerts.test.yml"),
        ]

        for run in runs { #expect(run.code == 0, "\(run.output)\(run.errors)") }
        #expect(!runs[0].output.contains("warning"), "\(runs[0].output)")
    }

    @Test("promtool accepts the metrics of a daemon that has worked and failed")
    func metrics() async throws {
        let proxy = try await Self.busyProxy()
        let text = try await proxy.administer("GET", "/metrics").body
        try proxy.folder.write(text, to: "metrics.txt")

        let run = try await OtherProgram.run(
            "/bin/sh", ["-c", "\(Self.promtool) check metrics < '\(proxy.folder.path)/metrics.txt'"])
        #expect(run.code == 0 && run.errors.isEmpty && run.output.isEmpty, "\(run.output)\(run.errors)")
    }

    @Test("Prometheus scrapes the daemon, evaluates every rule, and knows every expression of the dashboard")
    func scraped() async throws {
        let proxy = try await Self.busyProxy()
        let prometheus = try await Prometheus(
            scraping: try #require(proxy.daemon.metricsPort), in: proxy.folder)

        try await prometheus.wait {
            let rules = try await prometheus.rules
            return !rules.isEmpty && rules.allSatisfy { $0.health == "ok" }
        }
        #expect(try await prometheus.rules.filter { $0.state == "firing" }.map(\.name) == [])

        var count = 0
        for expression in try Self.dashboardExpressions() {
            // An expression that does not parse throws.
            _ = try await prometheus.values(of: expression)
            count += 1
        }
        #expect(count > 50)
        let alerts = TextFiles.read("deploy/prometheus/alerts.yml")
        for match in alerts.matches(of: /imageproxyd_[a-z_]+\{[^}]*\}/)
        where !match.0.contains("http_requests") {
            #expect(try await !prometheus.values(of: String(match.0)).isEmpty, "\(match.0): no such series")
        }
        let causes = #"sum by (cause) (imageproxyd_http_failures_total{route="img"}) > 0"#
        #expect(
            Set(try await prometheus.values(of: causes).map { $0.labels["cause"] }) == ["client", "source"])
        let memory = try await prometheus.values(of: "imageproxyd_worker_memory_bytes")
        #expect(memory.count == 1 && memory[0].value > 1_048_576)
    }

    @Test("A reload that is refused raises its alert, which leads to a page of the same daemon")
    func alert() async throws {
        let proxy = try await Self.busyProxy()
        let port = try #require(proxy.daemon.metricsPort)
        let prometheus = try await Prometheus(scraping: port, in: proxy.folder)
        func alert() async throws -> Prometheus.Rule? {
            try await prometheus.rules.first { $0.name == "ImageproxydReloadRefused" }
        }

        try await proxy.reload(settings: #""nonsense": 1"#)
        // It fires a minute later.
        try await prometheus.wait { try await alert()?.state == "pending" }
        try await proxy.reload(settings: Self.settings)
        try await prometheus.wait { try await alert()?.state == "inactive" }
    }

    @Test("Every alert says how urgent it is, waits, has cases, and leads to a page that exists")
    func alerts() async throws {
        let proxy = try await Self.busyProxy()
        let port = try #require(proxy.daemon.metricsPort)
        let prometheus = try await Prometheus(scraping: port, in: proxy.folder)
        try await prometheus.wait { try await !prometheus.rules.isEmpty }
        let alerts = try await prometheus.rules.filter(\.isAlert)
        let cases = TextFiles.read("deploy/prometheus/alerts.test.yml")
        let index = TextFiles.read("docs/runbooks/README.md")

        #expect(alerts.count >= 16)
        for alert in alerts {
            #expect(alert.seconds >= 60, "\(alert.name)")
            #expect(["critical", "warning"].contains(alert.labels["severity"]), "\(alert.name)")
            #expect(alert.annotations["summary"]?.contains("{{ $labels.instance }}") == true)
            #expect(cases.contains("name: \(alert.name) fires\n"), "\(alert.name)")
            #expect(cases.contains("name: \"\(alert.name) does not fire: "), "\(alert.name)")
            #expect(
                index.contains("| `\(alert.name)` | \(alert.labels["severity"] ?? "") |"), "\(alert.name)")

            let url = try #require(alert.annotations["runbook_url"])
            let base = "http://{{ $labels.instance }}"
            #expect(url.hasPrefix(base + "/docs/runbooks/"))
            let page = try await onThread {
                let client = try RawHTTPClient(port: port)
                defer { client.hangUp() }
                try client.send("GET \(url.dropFirst(base.count)) HTTP/1.1\r\nHost: a\r\n\r\n")
                return try client.answer()
            }
            #expect(
                page.status == 200 && page.text.contains("<h1 id=\"\(alert.name.lowercased())\""), "\(url)")
        }
    }

    // MARK: - Support

    private static let settings = #""metrics": {"listen": ["127.0.0.1:0"]}"#

    /// A daemon that has answered a miss, a hit and some failures.
    private static func busyProxy() async throws -> Proxy {
        let proxy = try await Proxy(settings: settings)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, type: "image/jpeg"))
        for _ in 0..<2 {
            #expect(try await proxy.get(proxy.target("/a.jpg", "transform=resize:20x20")).status == 200)
        }
        #expect(try await proxy.get(proxy.target("/missing.jpg")).status == 404)
        #expect(try await proxy.get("/img").status == 400)
        return proxy
    }

    private static func dashboardExpressions() throws -> [String] {
        let data = Data(TextFiles.read("deploy/grafana/imageproxyd.json").utf8)
        let dashboard = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        let panels = dashboard?["panels"] as? [[String: Any]] ?? []
        return panels.flatMap { $0["targets"] as? [[String: Any]] ?? [] }.compactMap { $0["expr"] as? String }
            .map { $0.replacing("$__rate_interval", with: "5m").replacing("$instance", with: ".*") }
    }
}
