// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("Tracing")
struct TracingTests {
    /// A span as OpenTelemetry's own definitions read it.
    private struct Span: Equatable {
        let service, trace, parent, kind, status, name: String
    }

    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    private static let jpeg = [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")]

    /// The spans of all exports that the collector has received.
    private static func spans(_ collector: FakeOrigin) async throws -> [Span] {
        let folder = try TemporaryDirectory()
        let exports = collector.log.requests.filter { $0.path == "/v1/traces" }
        var files: [String] = []
        for (number, export) in exports.enumerated() {
            try folder.write(export.content, to: "\(number).json")
            files.append("\(folder.path)/\(number).json")
        }
        let repository = URL(filePath: #filePath).pathComponents.dropLast(4).joined(separator: "/")
            .dropFirst()
        let outcome = try await OtherProgram.run(
            "\(repository)/.build/python/bin/python3", ["\(repository)/Tests/Fixtures/check-otlp.py"] + files)
        try #require(outcome.code == 0, "\(outcome.errors)")
        return outcome.output.split(separator: "\n").map { line in
            let parts = line.split(separator: "\t").map(String.init)
            return Span(
                service: parts[0], trace: parts[1], parent: parts[2], kind: parts[3], status: parts[4],
                name: parts[5])
        }
    }

    /// A daemon that sends its traces to a collector as soon as there are any.
    private static func traced(
        _ variables: [String] = [], collector: FakeOrigin
    ) async throws -> Proxy {
        try await Proxy(
            environment: [
                "OTEL_EXPORTER_OTLP_ENDPOINT=\(collector.url(""))", "OTEL_BSP_SCHEDULE_DELAY=20",
            ] + variables)
    }

    private static func collector() throws -> FakeOrigin {
        let collector = try FakeOrigin()
        collector.route("/v1/traces", OriginAnswer.body(Array("{}".utf8), type: "application/json"))
        return collector
    }

    /// The exports up to the one with the request's own span.
    private static func waitForRequestSpan(_ collector: FakeOrigin, count: Int = 1) async {
        _ = await collector.wait { log in
            log.requests.count { String(decoding: $0.content, as: UTF8.self).contains("\"kind\": 2") }
                >= count
        }
    }

    @Test("A miss is a trace of the client's: request, tiers, fetch and rendering with their phases")
    func miss() async throws {
        let collector = try Self.collector()
        let proxy = try await Self.traced(["OTEL_SERVICE_NAME=pictures"], collector: collector)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.jpeg))

        let answer = try await proxy.get(
            proxy.target("/a.jpg", "transform=resize:30x&format=png"), "traceparent: \(Self.parent)")
        await Self.waitForRequestSpan(collector)
        let spans = try await Self.spans(collector)

        #expect(answer.status == 200)
        #expect(Set(spans.map(\.trace)) == ["4bf92f3577b34da6a3ce929d0e0e4736"])
        #expect(Set(spans.map(\.service)) == ["pictures"])
        let names = Set(spans.map(\.name))
        for name in ["GET /img", "fetch", "first byte", "render", "decode", "encode", "cache store"] {
            #expect(names.contains(name), "\(name) in \(names)")
        }
        let request = try #require(spans.first { $0.kind == "SERVER" })
        #expect(request.parent == "00f067aa0ba902b7")
        #expect(spans.filter { $0.kind == "CLIENT" }.map(\.name) == ["fetch"])

        // The origin's spans are parts of the fetch.
        let sent = try #require(proxy.origin.log.requests.first?["traceparent"])
        #expect(sent.hasPrefix("00-4bf92f3577b34da6a3ce929d0e0e4736-") && sent.hasSuffix("-01"))
        #expect(sent != Self.parent)
    }

    @Test("A hit in memory, and what the caller does not record, is not traced")
    func unsampled() async throws {
        let collector = try Self.collector()
        let proxy = try await Self.traced(collector: collector)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.jpeg))
        let unsampled = Self.parent.dropLast(2) + "00"
        let small = "transform=resize:30x&format=png"

        _ = try await proxy.get(proxy.target("/a.jpg", small), "traceparent: \(unsampled)")
        for _ in 1...3 {
            _ = try await proxy.get(proxy.target("/a.jpg", small), "traceparent: \(Self.parent)")
        }
        _ = try await proxy.get(proxy.target("/missing.jpg"))
        await Self.waitForRequestSpan(collector)
        let requests = try await Self.spans(collector).filter { $0.kind == "SERVER" }

        #expect(requests.count == 1)
        #expect(requests.first?.parent == "-")
        #expect(proxy.origin.log.requests.first?["traceparent"] == String(unsampled))
    }

    @Test("Without the variables there are no traces, and a collector that refuses costs no answer")
    func refused() async throws {
        let collector = try FakeOrigin()
        collector.route("/v1/traces", OriginAnswer.status(400))
        let proxy = try await Self.traced(collector: collector)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.jpeg))
        #expect(try await proxy.get(proxy.target("/a.jpg")).status == 200)
        _ = await collector.waitForRequests("/v1/traces")
        proxy.daemon.send(signal: 15)
        _ = try await proxy.daemon.exitCode()
        let reason = "traces are lost: 127.0.0.1:\(collector.port): the collector answered 400"
        #expect(proxy.daemon.log.contains(reason))
    }

    @Test("The spans that are left are sent when the daemon ends")
    func end() async throws {
        let collector = try Self.collector()
        let proxy = try await Self.traced(["OTEL_BSP_SCHEDULE_DELAY=3600000"], collector: collector)
        _ = try await proxy.get(proxy.target("/missing.jpg"))
        proxy.daemon.send(signal: 15)
        _ = try await proxy.daemon.exitCode()
        let spans = try await Self.spans(collector)
        #expect(spans.contains { $0.name == "GET /img" && $0.status == "UNSET" })
        #expect(spans.contains { $0.name == "fetch" && $0.status == "ERROR" })
    }
}
