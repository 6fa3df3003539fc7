// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Formats metrics as Prometheus' text exposition 0.0.4 or as OpenMetrics 1.0.
///
/// Names of samples are the same in both. OpenMetrics names a counter's family without `_total`; if that name
/// is another family's (`http_connections`), the counter is written as of unknown type under its full name
/// instead.
package struct PrometheusText: Sendable {
    /// The two formats.
    package enum Format: Sendable, Hashable, CaseIterable {
        /// Prometheus' own.
        case prometheus
        /// OpenMetrics 1.0.
        case openMetrics

        /// The value of `Content-Type`.
        package var mediaType: String {
            switch self {
            case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
            case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            }
        }

        /// Chooses by a request's `Accept` (RFC 9110 §12.5.1): OpenMetrics only if it is named and not
        /// refused, and not preferred less than plain text.
        package init(accept: String?) {
            var openMetrics = 0.0
            var plain = 0.0
            for range in (accept ?? "").split(separator: ",") {
                let parts = range.split(separator: ";").map { $0.trimmingBlanks.lowercased() }
                let quality = parts.dropFirst().compactMap(quality).first ?? 1
                switch parts.first {
                case "application/openmetrics-text": openMetrics = max(openMetrics, quality)
                case "text/plain": plain = max(plain, quality)
                default: break
                }
            }
            self = openMetrics > 0 && openMetrics >= plain ? .openMetrics : .prometheus
        }
    }

    private let format: Format
    private var text = ""
    private var familyNames: Set<String> = []

    package static func text(of families: [any MetricFamily], as format: Format) -> String {
        var writer = PrometheusText(format: format)
        writer.familyNames = Set(families.map(\.row.name))
        for family in families { writer.write(family) }
        if format == .openMetrics { writer.text += "# EOF\n" }
        return writer.text
    }

    private init(format: Format) {
        self.format = format
    }

    private mutating func write(_ family: any MetricFamily) {
        let samples = family.samples()
        guard !samples.isEmpty else { return }
        writeHead(family.row)
        for sample in samples { write(sample, of: family.row) }
    }

    private mutating func writeHead(_ row: MetricRow) {
        let (name, type) = nameAndType(row)
        text += "# HELP \(name) \(escapedHelp(row.help))\n# TYPE \(name) \(type)\n"
        guard format == .openMetrics, let unit = Self.unit(of: name) else { return }
        text += "# UNIT \(name) \(unit)\n"
    }

    private func nameAndType(_ row: MetricRow) -> (name: String, type: String) {
        guard format == .openMetrics, row.kind == .counter, row.name.hasSuffix("_total") else {
            return (row.name, row.kind.rawValue)
        }
        let base = String(row.name.dropLast("_total".count))
        return familyNames.contains(base) ? (row.name, "unknown") : (base, "counter")
    }

    private static func unit(of name: String) -> String? {
        ["seconds", "bytes"].first { name.hasSuffix("_" + $0) }
    }

    private mutating func write(_ sample: MetricSample, of row: MetricRow) {
        text += row.name + sample.suffix
        if !sample.labels.isEmpty {
            let pairs = sample.labels.map { "\($0.name)=\"\(escapedLabel($0.value))\"" }
            text += "{" + pairs.joined(separator: ",") + "}"
        }
        text += " \(number(sample.value))\n"
    }
}

private func quality(_ parameter: String) -> Double? {
    parameter.hasPrefix("q=") ? Double(parameter.dropFirst(2)) : nil
}

private func number(_ value: MetricSample.Value) -> String {
    switch value {
    case .integer(let count): "\(count)"
    case .nanoseconds(let nanoseconds): decimalSeconds(nanoseconds)
    case .real(let real): real.isInfinite ? (real > 0 ? "+Inf" : "-Inf") : real.isNaN ? "NaN" : "\(real)"
    }
}

private func escapedHelp(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "\n") }
    guard !isPlain else { return text }
    return text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
}

private func escapedLabel(_ text: String) -> String {
    let text = escapedHelp(text)
    return text.utf8.contains(UInt8(ascii: "\"")) ? text.replacing("\"", with: "\\\"") : text
}
