// SPDX-License-Identifier: Apache-2.0

/// A metric with all its series, as a scrape reads it.
package protocol MetricFamily: Sendable {
    /// Name, help and type.
    var row: MetricRow { get }
    /// The labels in order, each with all values that it can take; without values if those are not known
    /// beforehand.
    var labels: [MetricLabel] { get }
    /// The series at this moment, those of one label set together; for histograms cumulative buckets, sum, count.
    func samples() -> [MetricSample]
}

/// A row of the catalogue.
package struct MetricRow: Sendable, Hashable {
    /// The full name in Prometheus' text format: a counter's ends in `_total`.
    package let name: String
    /// One sentence for the operator.
    package let help: String
    package let kind: Kind

    /// A metric's type.
    package enum Kind: String, Sendable, Hashable {
        /// Only grows, except at restarts.
        case counter
        /// Rises and falls.
        case gauge
        /// A distribution over fixed buckets.
        case histogram
    }

    /// How the names of the daemon's own metrics begin.
    static let prefix = "imageproxyd_"

    /// Creates a row; `name` in full, with its prefix.
    package init(_ name: String, _ help: String, kind: Kind) {
        self.name = name
        self.help = help
        self.kind = kind
    }
}

/// A label of a family.
package struct MetricLabel: Sendable, Hashable {
    package let name: String
    /// The possible values, in the order of declaration; empty if those are not known beforehand.
    package var values: [String] = []
}

/// One line of a scrape.
package struct MetricSample: Sendable {
    /// What follows the family's name: empty, or `_bucket`, `_sum`, `_count` of a histogram.
    package var suffix = ""
    package var labels: [(name: String, value: String)] = []
    package var value: Value

    /// A value that prints exactly.
    package enum Value: Sendable {
        /// A count.
        case integer(UInt64)
        /// Seconds, stored as nanoseconds.
        case nanoseconds(UInt64)
        /// Anything else.
        case real(Double)
    }
}

extension MetricLabels {
    /// Each label with its values.
    static var described: [MetricLabel] {
        var labels = names.map { MetricLabel(name: $0) }
        for index in 0..<count {
            for (place, value) in values(at: index).enumerated()
            where !labels[place].values.contains(value) {
                labels[place].values.append(value)
            }
        }
        return labels
    }

    /// Names and values of the combination with this number.
    static func pairs(at index: Int) -> [(name: String, value: String)] {
        zip(names, values(at: index)).map { (name: $0, value: $1) }
    }
}

/// Families with more series than this print only those that have counted; the others print every series from the
/// start, at 0, so that a rate over the first event is right.
let seriesPrintedAtZero = 64
