// SPDX-License-Identifier: Apache-2.0

/// A counter for every combination of its labels, all preallocated.
package struct MetricCounter<Labels: MetricLabels>: MetricFamily {
    /// Name, help and kind.
    package let row: MetricRow
    /// The labels, each with its values.
    package var labels: [MetricLabel] { Labels.described }
    @usableFromInline let cells: MetricCells

    /// Creates a counter at zero; `name` ends in `_total`.
    init(_ name: String, _ help: String, shards: Int) {
        row = MetricRow(MetricRow.prefix + name, help, kind: .counter)
        cells = MetricCells(count: Labels.count, shards: shards)
    }

    /// Hot path: adds `amount`; one relaxed atomic addition.
    @inlinable
    package func add(_ amount: Int, _ labels: Labels, on shard: MetricShard = .shared) {
        cells.add(UInt64(max(0, amount)), at: labels.index, on: shard)
    }

    /// Hot path: adds one.
    @inlinable
    package func increment(_ labels: Labels, on shard: MetricShard = .shared) {
        cells.add(1, at: labels.index, on: shard)
    }

    /// Returns the count of one series.
    package func value(_ labels: Labels) -> Int {
        Int(clamping: cells.sum(at: labels.index))
    }

    /// The present samples of the family.
    package func samples() -> [MetricSample] {
        (0..<Labels.count).compactMap { index in
            let count = cells.sum(at: index)
            guard count > 0 || Labels.count <= seriesPrintedAtZero else { return nil }
            return MetricSample(labels: Labels.pairs(at: index), value: .integer(count))
        }
    }
}

extension MetricCounter {
    /// Hot path: adds one to the series of two labels.
    @inlinable
    package func increment<First, Second>(_ first: First, _ second: Second, on shard: MetricShard = .shared)
    where Labels == LabelPair<First, Second> {
        increment(LabelPair(first, second), on: shard)
    }

    /// Hot path: adds one to the only series.
    @inlinable
    package func increment(on shard: MetricShard = .shared) where Labels == NoLabels {
        increment(NoLabels(), on: shard)
    }

    /// Hot path: adds `amount` to the only series.
    @inlinable
    package func add(_ amount: Int, on shard: MetricShard = .shared) where Labels == NoLabels {
        add(amount, NoLabels(), on: shard)
    }
}
