// SPDX-License-Identifier: Apache-2.0

import Answering
import Glibc
import Observability
import Primitives

/// What the live view and `imageproxyd top` show: counters since the start, whose rates a reader computes, present
/// values, and tables of recent work.
///
/// Reads what exists for other purposes; nothing is counted for it while requests are answered from a cache.
final class StatsTopic: EventTopic {
    private let metrics: Metrics
    private let work: RecentWork

    init(metrics: Metrics, work: RecentWork) {
        self.metrics = metrics
        self.work = work
    }

    func present() -> EventStep { .event(ServerSentEvent(name: "stats", data: json.compact)) }

    func next() -> EventStep { present() }

    /// The routes whose requests are for pictures.
    private static let routes: [Metric.Route] = [.img, .info]

    /// All values now; at most some ten kilobytes.
    var json: JSONValue {
        let now = SystemTime.nanoseconds(of: CLOCK_MONOTONIC)
        return [
            "version": .string(Version.current),
            // Of a clock that only advances, for rates.
            "milliseconds": .integer(Int(now / 1_000_000)),
            "started": .integer(ProcessMetrics.startTime ?? 0),
            "answers": answers, "statuses": statuses, "latency": latency,
            "bytes": .integer(Self.routes.reduce(0) { $0 + metrics.httpResponseBytes.value($1) }),
            "connections": value(of: metrics.httpConnections),
            "queues": queues, "workers": values(of: metrics.workers, by: "state"),
            "memory": memory,
            "fetches": counts(Metric.Fetch.allCases) { metrics.fetches.value($0) },
            "transforms": transforms,
            "recent": Self.json(work.summary(at: UInt64(now))),
        ]
    }

    // MARK: - Counters

    /// Requests for pictures by how the cache took part; `none` are failures.
    private var answers: JSONValue {
        counts(Metric.Cache.allCases) { cache in
            Self.routes.reduce(0) { $0 + metrics.httpRequestDuration.count(LabelPair($1, cache)) }
        }
    }

    /// Requests for pictures by the class of their status.
    private var statuses: JSONValue {
        .object(
            (2...5).map { hundreds in
                let count = (hundreds * 100..<hundreds * 100 + 100).reduce(0) { count, status in
                    Self.routes.reduce(count) {
                        $0 + metrics.httpRequests.value(LabelPair($1, Metric.Status(status)))
                    }
                }
                return JSONValue.Member(name: "\(hundreds)xx", value: .integer(count))
            })
    }

    /// How many requests for pictures took how long; the bounds are in microseconds, and one count is beyond the
    /// last of them.
    private var latency: JSONValue {
        let histogram = metrics.httpRequestDuration
        var counts = [UInt64](repeating: 0, count: histogram.buckets.bounds.count + 1)
        for route in Self.routes {
            for cache in Metric.Cache.allCases {
                for (index, count) in histogram.counts(LabelPair(route, cache)).enumerated() {
                    counts[index] += count
                }
            }
        }
        return [
            "microseconds": .array(histogram.buckets.bounds.map { .integer(Int($0 / 1_000)) }),
            "counts": .array(counts.map { .integer(Int(clamping: $0)) }),
        ]
    }

    private var transforms: JSONValue {
        counts(Metric.Transform.allCases) { outcome in
            Metric.Format.allCases.reduce(0) { $0 + metrics.transforms.value(LabelPair($1, outcome)) }
        }
    }

    // MARK: - Present values

    private var queues: JSONValue {
        [
            "fetch": value(of: metrics.fetchQueue), "fetching": value(of: metrics.fetchesInProgress),
            "transform": value(of: metrics.transformQueue),
            "improvement": value(of: metrics.transformImprovementQueue),
        ]
    }

    private var memory: JSONValue {
        [
            "resident": .integer(ProcessMetrics.residentBytes ?? 0),
            "cache": sum(of: metrics.cacheBytes, where: "memory"),
            "cacheEntries": sum(of: metrics.cacheEntries, where: "memory"),
            "disk": sum(of: metrics.cacheBytes, where: "disk"),
            "diskEntries": sum(of: metrics.cacheEntries, where: "disk"),
        ]
    }

    // MARK: - Tables

    private static func json(_ summary: RecentWork.Summary) -> JSONValue {
        [
            "hosts": .array(
                summary.hosts.map {
                    [
                        "host": .string($0.name), "count": .integer($0.count),
                        "failures": .integer($0.failures), "bytes": .integer($0.bytes),
                        "fetchMicroseconds": .integer($0.fetch),
                    ]
                }),
            "presets": .array(
                summary.presets.map {
                    [
                        "preset": .string($0.name), "count": .integer($0.count),
                        "failures": .integer($0.failures), "workMicroseconds": .integer($0.work),
                    ]
                }),
            "slow": .array(summary.slow.map(json)),
            "failures": .array(summary.failures.map(json)),
        ]
    }

    private static func json(_ slow: RecentWork.Slow) -> JSONValue {
        [
            "source": .string(slow.source), "preset": .string(slow.preset),
            "request": .string(slow.requestID), "queueMicroseconds": .integer(slow.queue),
            "fetchMicroseconds": .integer(slow.fetch), "decodeMicroseconds": .integer(slow.decode),
            "transformMicroseconds": .integer(slow.transform),
            "encodeMicroseconds": .integer(slow.encode),
        ]
    }

    private static func json(_ failure: RecentWork.Failure) -> JSONValue {
        [
            "code": .string(failure.code), "count": .integer(failure.count),
            "status": .integer(failure.status), "host": .string(failure.host),
            "reason": .string(failure.reason), "request": .string(failure.requestID),
        ]
    }

    // MARK: - Metrics as JSON

    private func counts<Label: MetricLabels>(_ labels: [Label], _ count: (Label) -> Int) -> JSONValue {
        .object(
            labels.map { label in
                JSONValue.Member(name: Label.values(at: label.index)[0], value: .integer(count(label)))
            })
    }

    private func value(of reading: MetricReading) -> JSONValue {
        .integer(reading.samples().reduce(0) { $0 + $1.count })
    }

    private func values(of reading: MetricReading, by label: String) -> JSONValue {
        .object(
            reading.samples().map { sample in
                JSONValue.Member(
                    name: sample.labels.first { $0.name == label }?.value ?? "", value: .integer(sample.count)
                )
            })
    }

    private func sum(of reading: MetricReading, where tier: String) -> JSONValue {
        let samples = reading.samples().filter { $0.labels.contains { $0 == ("tier", tier) } }
        return .integer(samples.reduce(0) { $0 + $1.count })
    }
}

extension MetricSample {
    fileprivate var count: Int {
        switch value {
        case .integer(let count): Int(clamping: count)
        case .nanoseconds(let count): Int(clamping: count)
        case .real(let number): Int(number)
        }
    }
}
