// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Where traces are sent, and which: the variables of the environment that OpenTelemetry specifies for that
/// ("OpenTelemetry Environment Variable Specification", "OpenTelemetry Protocol Exporter").
package struct TracingConfiguration: Sendable, Hashable {
    /// The URL that spans are posted to.
    package var endpoint: String
    /// Fields of each export.
    package var fields: [Span.Attribute] = []
    /// A file with certificates that the collector's is checked against; nil for the system's.
    package var certificate: String?
    /// The longest time that an export may take, in milliseconds.
    package var timeout = 10_000
    package var sampler = Tracer.Sampler()
    /// Spans that may wait.
    package var queue = 2_048
    /// Spans that are exported at once.
    package var batch = 512
    /// The longest time that spans wait for a batch, in milliseconds.
    package var delay = 5_000
    package var resource: [Span.Attribute] = []
    /// What can't be used, in a sentence each.
    package var warnings: [String] = []

    /// Reads the variables; nil where they request no traces.
    ///
    /// What can't be used has the default in its place, and a warning.
    package init?(environment: [String: String]) {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        func traces(_ name: String) -> String? {
            value("OTEL_EXPORTER_OTLP_TRACES_\(name)") ?? value("OTEL_EXPORTER_OTLP_\(name)")
        }
        guard value("OTEL_SDK_DISABLED")?.lowercased() != "true" else { return nil }
        let exporter = value("OTEL_TRACES_EXPORTER")
        guard exporter != "none", exporter == "otlp" || traces("ENDPOINT") != nil else { return nil }
        endpoint =
            value("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
            ?? Self.tracesPath(below: value("OTEL_EXPORTER_OTLP_ENDPOINT") ?? "http://localhost:4318")
        if let exporter, exporter != "otlp" {
            warnings.append("OTEL_TRACES_EXPORTER is '\(exporter)'; only otlp and none are known: it is otlp")
        }
        if let form = traces("PROTOCOL"), form != "http/json" {
            warnings.append("OTEL_EXPORTER_OTLP_PROTOCOL is '\(form)'; traces are sent as http/json")
        }
        if let coding = traces("COMPRESSION"), coding != "none" {
            warnings.append("OTEL_EXPORTER_OTLP_COMPRESSION is '\(coding)'; traces are sent uncompressed")
        }
        certificate = traces("CERTIFICATE")
        fields = list("HEADERS", traces("HEADERS"))
        readNumbers(value, timeout: traces("TIMEOUT"))
        readSampler(value("OTEL_TRACES_SAMPLER"), value("OTEL_TRACES_SAMPLER_ARG"))
        resource = list("OTEL_RESOURCE_ATTRIBUTES", value("OTEL_RESOURCE_ATTRIBUTES"))
        if let name = value("OTEL_SERVICE_NAME") {
            resource.removeAll { $0.name == Self.serviceName }
            resource.append(Span.Attribute(Self.serviceName, .string(name)))
        } else if !resource.contains(where: { $0.name == Self.serviceName }) {
            resource.append(Span.Attribute(Self.serviceName, .string("imageproxyd")))
        }
    }

    private static let serviceName = "service.name"

    private static func tracesPath(below base: String) -> String {
        base + (base.hasSuffix("/") ? "" : "/") + "v1/traces"
    }

    private mutating func readNumbers(_ value: (String) -> String?, timeout text: String?) {
        func number(_ name: String, _ text: String?, _ known: Int, in range: ClosedRange<Int>) -> Int {
            guard let text else { return known }
            guard let number = Int(text), range.contains(number) else {
                warnings.append(
                    "\(name) is '\(text)'; it must be \(range.lowerBound) to \(range.upperBound): it is \(known)"
                )
                return known
            }
            return number
        }
        timeout = number("OTEL_EXPORTER_OTLP_TIMEOUT", text, timeout, in: 1...600_000)
        queue = number("OTEL_BSP_MAX_QUEUE_SIZE", value("OTEL_BSP_MAX_QUEUE_SIZE"), queue, in: 1...1_000_000)
        batch = number(
            "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", value("OTEL_BSP_MAX_EXPORT_BATCH_SIZE"), min(batch, queue),
            in: 1...queue)
        delay = number("OTEL_BSP_SCHEDULE_DELAY", value("OTEL_BSP_SCHEDULE_DELAY"), delay, in: 1...3_600_000)
    }

    private mutating func readSampler(_ name: String?, _ argument: String?) {
        guard let name else { return }
        var kind = Substring(name)
        sampler.followsParent = name.hasPrefix("parentbased_")
        if sampler.followsParent { kind = name.dropFirst("parentbased_".count) }
        switch kind {
        case "always_on": sampler.ratio = 1
        case "always_off": sampler.ratio = 0
        case "traceidratio":
            guard let argument else { return }
            guard let ratio = Double(argument), (0...1).contains(ratio) else {
                warnings.append("OTEL_TRACES_SAMPLER_ARG is '\(argument)'; it must be 0 to 1: it is 1")
                return
            }
            sampler.ratio = ratio
        default:
            warnings.append(
                "OTEL_TRACES_SAMPLER is '\(name)', which is not known: it is parentbased_always_on")
            sampler = Tracer.Sampler()
        }
    }

    /// Names and values as W3C Baggage writes them: `name=value,…`, percent-encoded.
    private mutating func list(_ name: String, _ text: String?) -> [Span.Attribute] {
        (text ?? "").split(separator: ",").compactMap { member in
            let trimmed = member.drop { $0 == " " }
            guard let sign = trimmed.firstIndex(of: "="), sign > trimmed.startIndex else {
                // Headers may hold a secret.
                warnings.append("\(name): a member has no '=': it is left out")
                return nil
            }
            let value = percentDecoded(trimmed[trimmed.index(after: sign)...].utf8).bytes
            return Span.Attribute(
                String(trimmed[..<sign].prefix { $0 != " " }), .string(String(decoding: value, as: UTF8.self))
            )
        }
    }
}
