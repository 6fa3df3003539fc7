// SPDX-License-Identifier: Apache-2.0

/// Upper bounds of a histogram's buckets, in nanoseconds and rising; larger values count in `+Inf`.
package struct MetricBuckets: Sendable, Hashable {
    package let bounds: [UInt64]

    /// Creates bounds from microseconds.
    init(microseconds: [UInt64]) {
        bounds = microseconds.map { $0 * 1_000 }
    }

    /// For whole requests, of which most are hits: 50 µs to 30 s.
    package static let requests = MetricBuckets(microseconds: [
        50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
        2_500_000, 5_000_000, 10_000_000, 30_000_000,
    ])

    /// For what a miss waits for (origin, worker, queue): 1 ms to 60 s.
    package static let work = MetricBuckets(microseconds: [
        1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
        5_000_000, 10_000_000, 30_000_000, 60_000_000,
    ])

    /// Cells of one series: the buckets, the one beyond the last bound, and the sum.
    var cellsPerSeries: Int { bounds.count + 2 }

    /// Hot path: counts one duration; the search is linear because hits end in the first buckets.
    @usableFromInline
    func count(_ nanoseconds: UInt64, inSeries series: Int, of cells: MetricCells, on shard: MetricShard) {
        var bucket = 0
        while bucket < bounds.count, bounds[bucket] < nanoseconds { bucket += 1 }
        let first = series * cellsPerSeries
        cells.add(1, at: first + bucket, on: shard)
        cells.add(nanoseconds, at: first + bounds.count + 1, on: shard)
    }
}

/// A distribution of durations for every combination of its labels, all preallocated.
package struct MetricHistogram<Labels: MetricLabels>: MetricFamily {
    /// Name, help and kind.
    package let row: MetricRow
    /// The labels, each with its values.
    package var labels: [MetricLabel] { Labels.described }
    /// The buckets' bounds.
    package let buckets: MetricBuckets
    @usableFromInline let cells: MetricCells

    /// Creates a histogram without observations; `name` ends in `_seconds`.
    init(_ name: String, _ help: String, buckets: MetricBuckets, shards: Int) {
        row = MetricRow(MetricRow.prefix + name, help, kind: .histogram)
        self.buckets = buckets
        cells = MetricCells(count: Labels.count * buckets.cellsPerSeries, shards: shards)
    }

    /// Hot path: counts one duration; two relaxed atomic additions.
    @inlinable
    package func observe(nanoseconds: UInt64, _ labels: Labels, on shard: MetricShard = .shared) {
        buckets.count(nanoseconds, inSeries: labels.index, of: cells, on: shard)
    }

    /// Returns the number of durations of one series.
    package func count(_ labels: Labels) -> Int {
        let first = labels.index * buckets.cellsPerSeries
        return Int(clamping: (first...first + buckets.bounds.count).reduce(0) { $0 &+ cells.sum(at: $1) })
    }

    /// Returns the number of durations of one series in each bucket; the last one is beyond the last bound.
    package func counts(_ labels: Labels) -> [UInt64] {
        let first = labels.index * buckets.cellsPerSeries
        return (0...buckets.bounds.count).map { cells.sum(at: first + $0) }
    }

    /// The present samples of the family.
    package func samples() -> [MetricSample] {
        (0..<Labels.count).flatMap(series)
    }

    private func series(at index: Int) -> [MetricSample] {
        let first = index * buckets.cellsPerSeries
        let counts = (0...buckets.bounds.count).map { cells.sum(at: first + $0) }
        let total = counts.reduce(0, &+)
        guard total > 0 || Labels.count <= seriesPrintedAtZero / 8 else { return [] }
        let labels = Labels.pairs(at: index)
        var samples = cumulative(counts, labels: labels)
        let sum = cells.sum(at: first + buckets.bounds.count + 1)
        samples.append(MetricSample(suffix: "_sum", labels: labels, value: .nanoseconds(sum)))
        samples.append(MetricSample(suffix: "_count", labels: labels, value: .integer(total)))
        return samples
    }

    private func cumulative(_ counts: [UInt64], labels: [(name: String, value: String)]) -> [MetricSample] {
        var total: UInt64 = 0
        return counts.enumerated().map { index, count in
            total &+= count
            let bound = index < buckets.bounds.count ? decimalSeconds(buckets.bounds[index]) : "+Inf"
            return MetricSample(
                suffix: "_bucket", labels: labels + [(name: "le", value: bound)], value: .integer(total))
        }
    }
}

extension MetricHistogram {
    /// Hot path: counts one duration of the series of two labels.
    @inlinable
    package func observe<First, Second>(
        nanoseconds: UInt64, _ first: First, _ second: Second, on shard: MetricShard = .shared
    ) where Labels == LabelPair<First, Second> {
        observe(nanoseconds: nanoseconds, LabelPair(first, second), on: shard)
    }

    /// Counts one duration of the only series.
    package func observe(nanoseconds: UInt64, on shard: MetricShard = .shared) where Labels == NoLabels {
        observe(nanoseconds: nanoseconds, NoLabels(), on: shard)
    }
}

/// Formats nanoseconds as seconds, exactly and without trailing zeros but one: `0.00025`, `2.5`, `30.0`.
func decimalSeconds(_ nanoseconds: UInt64) -> String {
    let whole = nanoseconds / 1_000_000_000
    var digits = "\(nanoseconds % 1_000_000_000)"
    digits = String(repeating: "0", count: 9 - digits.count) + digits
    while digits.hasSuffix("0"), digits.count > 1 { digits.removeLast() }
    return "\(whole).\(digits)"
}
