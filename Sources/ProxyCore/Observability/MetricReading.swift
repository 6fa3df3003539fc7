// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A metric whose values belong to another module and are read at each scrape.
///
/// Modules know nothing of metrics: the composition root registers a closure for each. Without one nothing is
/// printed.
package final class MetricReading: MetricFamily {
    /// Name, help and kind.
    package let row: MetricRow
    /// The labels, with the values that their readings have.
    package let labels: [MetricLabel]
    private let readers = Mutex<[@Sendable () -> [Reading]]>([])

    /// A series and its present value.
    package struct Reading: Sendable {
        /// The labels' values, in the order of the names.
        package let labels: [String]
        package let value: MetricSample.Value

        /// A count.
        package init(_ labels: [String] = [], _ value: Int) {
            self.labels = labels
            self.value = .integer(UInt64(max(0, value)))
        }

        /// A number with a fraction.
        package init(_ labels: [String] = [], _ value: Double) {
            self.labels = labels
            self.value = .real(value)
        }
    }

    /// Labels by name, each with its values, or with none where these are not known beforehand.
    typealias Labels = KeyValuePairs<String, [String]>

    /// Creates a metric without readings; `name` in full, with its prefix.
    init(_ name: String, _ help: String, kind: MetricRow.Kind, labels: Labels = [:]) {
        row = MetricRow(name, help, kind: kind)
        self.labels = labels.map { MetricLabel(name: $0.key, values: $0.value) }
    }

    /// Creates a number of the daemon that rises and falls; `name` without the prefix.
    static func gauge(_ name: String, _ help: String, labels: Labels = [:]) -> MetricReading {
        MetricReading(MetricRow.prefix + name, help, kind: .gauge, labels: labels)
    }

    /// Creates a count of the daemon; `name` ends in `_total`.
    static func counter(_ name: String, _ help: String, labels: Labels = [:]) -> MetricReading {
        MetricReading(MetricRow.prefix + name, help, kind: .counter, labels: labels)
    }

    /// Registers one series. `labels` are its values, in the order of the names; `read` is called at each scrape, on
    /// the thread that scrapes, and should take microseconds.
    package func observe(_ labels: String..., read: @escaping @Sendable () -> Int) {
        collect { [Reading(labels, read())] }
    }

    /// Registers several series that one call returns.
    package func collect(_ read: @escaping @Sendable () -> [Reading]) {
        readers.withLock { $0.append(read) }
    }

    /// The present samples of the family.
    package func samples() -> [MetricSample] {
        readers.withLock { $0 }.flatMap { $0() }.map { reading in
            precondition(reading.labels.count == labels.count, "\(row.name) takes \(labels.map(\.name))")
            let pairs = zip(labels, reading.labels).map { (name: $0.name, value: $1) }
            return MetricSample(labels: pairs, value: reading.value)
        }
    }
}
