// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Cache
@testable import HTTPServer
@testable import Observability
@testable import Rendering
@testable import Sharing

@Suite("Metrics of a running daemon")
struct MetricsListenerTests {
    /// A request to the address of `metrics.listen`, whose port the log names.
    private func ask(
        _ proxy: Proxy, _ target: String, method: String = "GET"
    ) async throws -> RawHTTPClient.Answer {
        let port = try #require(proxy.daemon.metricsPort)
        return try await onThread {
            let client = try RawHTTPClient(port: port)
            defer { client.hangUp() }
            try client.send("\(method) \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
            return try client.answer(isHead: method == "HEAD")
        }
    }

    @Test("metrics.listen answers metrics, health and the documentation, and nothing else")
    func ownListener() async throws {
        let proxy = try await Proxy(settings: #""metrics": {"listen": ["127.0.0.1:0"]}"#)

        #expect(try await ask(proxy, "/metrics").text.contains("imageproxyd_build_info"))
        #expect(try await ask(proxy, "/metrics", method: "HEAD").status == 200)
        #expect(try await ask(proxy, "/healthz").status == 200)
        #expect(try await ask(proxy, "/readyz").status == 200)
        #expect(try await ask(proxy, "/docs/runbooks/down.html").text.contains("ImageproxydDown"))
        #expect(try await ask(proxy, "/metrics", method: "DELETE").status == 405)
        for target in ["/", "/img?url=http://example.org/a.png", "/cache", "/failed", "/stats/events"] {
            #expect(try await ask(proxy, target).code == "not_found", "\(target)")
        }
        #expect(try await proxy.get("/metrics").status == 404, "metrics have an address of their own")
        #expect(try await proxy.administer("GET", "/metrics").status == 200)
    }

    @Test("metrics.public says whether clients read metrics, also after a reload")
    func exposure() async throws {
        let proxy = try await Proxy()
        #expect(try await proxy.get("/metrics").status == 200)

        try await proxy.reload(settings: #""metrics": {"public": "never"}"#)
        #expect(try await proxy.get("/metrics").code == "not_found")

        try await proxy.reload(settings: #""metrics": {"public": "always"}"#)
        #expect(try await proxy.get("/metrics").status == 200)
    }

    @Test("Failures count by where the fault lies: the client, the source, the origin or the daemon")
    func causes() async throws {
        let proxy = try await Proxy(
            settings: #""fetch": {"maxConcurrent": 1, "maxPerHost": 1, "clientShare": 1, "queue": 0}"#)
        proxy.origin.route("/text", .body(Array("no picture".utf8)))
        proxy.origin.route("/broken", .status(500))
        let gate = OriginGate()
        proxy.origin.route("/slow", OriginAnswer.body(Fixtures.photo).held(by: gate))
        func count(_ cause: String) async throws -> Double {
            try await proxy.metric(#"imageproxyd_http_failures_total{route="img",cause="\#(cause)"}"#)
        }

        #expect(try await proxy.get("/img").status == 400)
        #expect(try await proxy.get(proxy.target("/missing.png")).status == 404)
        #expect(try await proxy.get(proxy.target("/text")).status == 415)
        #expect(try await proxy.get(proxy.target("/broken")).status == 502)
        async let slow = proxy.get(proxy.target("/slow"))
        _ = await proxy.origin.waitForRequests("/slow")
        #expect(try await proxy.get(proxy.target("/another")).code == "queue_full")
        gate.open()
        #expect(try await slow.status == 200)

        #expect(try await count("client") == 1)
        #expect(try await count("source") == 2)
        #expect(try await count("origin") == 1)
        #expect(try await count("daemon") == 1)
    }

    @Test("Capacities stand beside levels, and follow the settings")
    func capacities() async throws {
        let proxy = try await Proxy(
            settings: #""fetch": {"maxConcurrent": 7, "queue": 11}, "http": {"maxConnections": 99}"#)

        #expect(try await proxy.metric("imageproxyd_http_connections_limit") == 99)
        #expect(try await proxy.metric("imageproxyd_fetch_in_progress_limit") == 7)
        #expect(try await proxy.metric("imageproxyd_fetch_queue_limit") == 11)
        #expect(try await proxy.metric("imageproxyd_transform_queue_limit") == 512)
        #expect(try await proxy.metric(#"imageproxyd_cache_limit_bytes{tier="disk"}"#) == 10_737_418_240)
        #expect(try await proxy.metric(#"imageproxyd_cache_limit_bytes{tier="memory"}"#) > 1_048_576)
        #expect(try await proxy.metric(#"imageproxyd_cache_enabled{tier="memory",kind="original"}"#) == 0)
        #expect(try await proxy.metric(#"imageproxyd_cache_enabled{tier="disk",kind="original"}"#) == 1)
        #expect(try await proxy.metric("imageproxyd_worker_memory_bytes") > 1_048_576)
        #expect(try await proxy.metric("imageproxyd_transform_memory_limit_bytes") > 1_048_576)
        #expect(try await proxy.metric("process_max_fds") > 0)

        try await proxy.reload(settings: #""fetch": {"maxConcurrent": 5, "queue": 3}"#)
        #expect(try await proxy.metric("imageproxyd_fetch_in_progress_limit") == 5)
        #expect(try await proxy.metric("imageproxyd_fetch_queue_limit") == 3)
    }

    @Test("Reloads count by outcome, and the last one is shown until another succeeds")
    func reloads() async throws {
        let proxy = try await Proxy()
        #expect(try await proxy.metric("imageproxyd_last_reload_successful") == 1)

        try await proxy.reload()
        try await proxy.reload(settings: #""nonsense": 1"#)
        #expect(try await proxy.metric("imageproxyd_last_reload_successful") == 0)
        #expect(try await proxy.metric(#"imageproxyd_reloads_total{outcome="applied"}"#) == 1)
        #expect(try await proxy.metric(#"imageproxyd_reloads_total{outcome="refused"}"#) == 1)

        try await proxy.reload()
        #expect(try await proxy.metric("imageproxyd_last_reload_successful") == 1)
    }

    @Test("Readings have the values of labels that their rows declare")
    func declaredValues() async throws {
        let proxy = try await Proxy()
        let families = Metrics(loops: 1, version: "").families
        let declared = Dictionary(uniqueKeysWithValues: families.map { ($0.row.name, $0.labels) })

        let samples = try await proxy.get("/metrics").text.matches(of: /(?m)^(imageproxyd_[a-z_]+)\{(.*)\}/)

        #expect(samples.count > 100)
        for sample in samples {
            let labels = declared[String(sample.1)] ?? []
            for pair in sample.2.matches(of: /([a-z_]+)="([^"]*)"/) {
                let values = labels.first { $0.name == pair.1 }?.values ?? []
                #expect(values.isEmpty || values.contains(String(pair.2)), "\(sample.0)")
            }
        }
    }

    @Test("Values of labels that name what another module counts are all that it counts")
    func valuesOfModules() {
        #expect(Metric.entryKinds == EntryKind.allCases.map { "\($0)" })
        #expect(Metric.evictions == EvictionReason.allCases.map(\.rawValue))
        #expect(Metric.failureClasses == FailureClass.allCases.map(\.rawValue))
        #expect(Metric.restarts == WorkerPool.RestartReason.allCases.map(\.rawValue))
        #expect(Metric.rejections == HTTPServer.RejectionReason.allCases.map { snakeCased("\($0)") })
        #expect(Metric.sharedOutcomes == SharedStatistics.Outcome.allCases.map { snakeCased("\($0)") })
        #expect(
            Metric.SharedOperation.allCases.map(\.label)
                == SharedStatistics.Operation.allCases.map { "\($0)" })
    }

    @Test("Values of labels are in snake case")
    func labelValues() async throws {
        let proxy = try await Proxy()
        let text = try await proxy.get("/metrics").text
        var values: Set<String> = []
        for match in text.matches(of: /([a-z_]+)="([^"]*)"/) where !["le", "version"].contains(match.1) {
            values.insert(String(match.2))
        }

        #expect(values.contains("too_many_connections") && values.contains("not_an_image"))
        for value in values { #expect(value.wholeMatch(of: /[a-z0-9]+(_[a-z0-9]+)*/) != nil, "\(value)") }
    }
}

extension DaemonProcess {
    /// The port of `metrics.listen`, which the log names.
    var metricsPort: UInt16? {
        log.firstMatch(of: /metrics on 127\.0\.0\.1:(\d+)/).flatMap { UInt16($0.1) }
    }
}
