// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@testable import Tracing

@Suite("OpenTelemetry's variables")
struct TracingConfigurationTests {
    @Test(
        "Traces are sent where an endpoint or the exporter is named, unless they are switched off",
        arguments: [
            ([:], nil),
            (["OTEL_SERVICE_NAME": "a"], nil),
            (["OTEL_TRACES_EXPORTER": "otlp"], "http://localhost:4318/v1/traces"),
            (["OTEL_EXPORTER_OTLP_ENDPOINT": "http://a:1"], "http://a:1/v1/traces"),
            (["OTEL_EXPORTER_OTLP_ENDPOINT": "http://a:1/b/"], "http://a:1/b/v1/traces"),
            (["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://a:1/b"], "http://a:1/b"),
            (["OTEL_EXPORTER_OTLP_ENDPOINT": "http://a:1", "OTEL_TRACES_EXPORTER": "none"], nil),
            (["OTEL_EXPORTER_OTLP_ENDPOINT": "http://a:1", "OTEL_SDK_DISABLED": "true"], nil),
            (["OTEL_EXPORTER_OTLP_ENDPOINT": ""], nil),
        ] as [([String: String], String?)])
    func endpoint(variables: [String: String], endpoint: String?) {
        #expect(TracingConfiguration(environment: variables)?.endpoint == endpoint)
    }

    @Test(
        "What can't be used has its default, and a warning that names the variable",
        arguments: [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "0"), ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "9999"),
            ("OTEL_BSP_SCHEDULE_DELAY", "soon"), ("OTEL_EXPORTER_OTLP_TIMEOUT", "-1"),
            ("OTEL_TRACES_SAMPLER", "sometimes"), ("OTEL_TRACES_EXPORTER", "zipkin"),
            ("OTEL_RESOURCE_ATTRIBUTES", "a"),
        ])
    func warnings(name: String, value: String) throws {
        let usual = try #require(
            TracingConfiguration(environment: ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://a"]))
        var read = try #require(
            TracingConfiguration(environment: ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", name: value]))
        #expect(read.warnings.count == 1 && read.warnings[0].contains(name))
        read.warnings = []
        #expect(read == usual)
    }

    @Test("A secret in the headers is in no warning")
    func secret() throws {
        let read = try #require(
            TracingConfiguration(environment: [
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_EXPORTER_OTLP_HEADERS": "sesame",
            ]))
        #expect(read.warnings.count == 1 && !read.warnings[0].contains("sesame"))
    }

    @Test("Headers, attributes and the sampler are read as they are specified")
    func values() throws {
        let read = try #require(
            TracingConfiguration(environment: [
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b, x=1",
                "OTEL_RESOURCE_ATTRIBUTES": "service.name=b,host.name=c", "OTEL_SERVICE_NAME": "d",
                "OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.25",
            ]))
        #expect(read.warnings.isEmpty)
        #expect(read.fields == [.init("api-key", .string("a b")), .init("x", .string("1"))])
        #expect(read.resource == [.init("host.name", .string("c")), .init("service.name", .string("d"))])
        #expect(read.sampler == Tracer.Sampler(followsParent: false, ratio: 0.25))
    }
}
