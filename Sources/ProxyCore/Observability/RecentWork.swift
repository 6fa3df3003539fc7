// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What answers that stored bytes could not give were about in the last five to ten minutes: hosts, presets, slow
/// transforms and failures, for the live view.
///
/// Bounded by the sizes of its tables, whatever clients request. Hosts and URLs are those of the access log,
/// so `log.url` decides whether there are any. Safe from any thread.
package final class RecentWork: Sendable {
    /// The maximum numbers of hosts, presets and codes of failures that are counted.
    static let maxNames = 64
    /// The maximum number of slow transforms.
    static let maxSlow = 10
    /// The maximum length of a text, in bytes: that of the name of a host (RFC 1035 §2.3.4) with its port.
    static let maxTextBytes = 260
    /// How long events are counted together, in nanoseconds.
    static let period: UInt64 = 300_000_000_000

    /// A transform that took long.
    package struct Slow: Sendable, Hashable {
        /// The URL, or the host, as far as `log.url` permits.
        package var source: String
        package var preset: String
        package var requestID: String
        /// Microseconds of each step.
        package var queue, fetch, decode, transform, encode: Int

        /// Microseconds of a worker.
        package var work: Int { decode + transform + encode }
    }

    /// The latest failure of a code.
    package struct Failure: Sendable, Hashable {
        package var code: String
        package var count: Int
        package var status: Int
        package var host: String
        package var reason: String
        package var requestID: String
    }

    /// A host with its answers that stored bytes could not give.
    package struct Host: Sendable, Hashable {
        package var name: String
        package var count: Int
        package var failures: Int
        /// Bytes of these answers.
        package var bytes: Int
        /// Microseconds of their fetches.
        package var fetch: Int
    }

    /// A preset likewise.
    package struct Preset: Sendable, Hashable {
        package var name: String
        package var count: Int
        package var failures: Int
        /// Microseconds of workers.
        package var work: Int
    }

    /// The tables, each with the largest first.
    package struct Summary: Sendable, Hashable {
        package var hosts: [Host] = []
        package var presets: [Preset] = []
        package var slow: [Slow] = []
        package var failures: [Failure] = []
    }

    private struct Period {
        /// Its number, in periods since the machine's start.
        var number: UInt64 = 0
        var hosts = TopTable(capacity: maxNames, maxNameBytes: maxTextBytes)
        var presets = TopTable(capacity: maxNames, maxNameBytes: maxTextBytes)
        var slow: [Slow] = []
        var failures: [Failure] = []
    }

    private let periods = Mutex((previous: Period(), present: Period()))

    /// Creates empty tables.
    package init() {}

    /// Whether a request counts: a hit does not.
    @inlinable
    package static func counts(_ route: Metric.Route, _ cache: Metric.Cache) -> Bool {
        !cache.isHit && (route == .img || route == .info || route == .srcset)
    }

    /// Counts a request that has ended.
    package func record(_ record: AccessRecord) {
        guard let miss = record.miss else { return }
        let isFailed = !miss.problem.isEmpty
        let slow = Self.slow(record, miss)
        let failure = isFailed ? Self.failure(record, miss) : nil
        periods.withLock { periods in
            Self.advance(&periods, to: record.finishedAt)
            if !miss.host.isEmpty {
                periods.present.hosts.count(
                    Self.name(miss), adding: [isFailed ? 1 : 0, record.bytes, miss.fetch])
            }
            if !miss.preset.isEmpty {
                periods.present.presets.count(miss.preset, adding: [isFailed ? 1 : 0, slow.work])
            }
            if slow.work > 0 { Self.insert(slow, into: &periods.present.slow) }
            if let failure { Self.insert(failure, into: &periods.present.failures) }
        }
    }

    /// The tables at a time of CLOCK_MONOTONIC, in nanoseconds, each with at most `count` rows.
    package func summary(at now: UInt64, atMost count: Int = 10) -> Summary {
        let (previous, present) = periods.withLock { periods in
            Self.advance(&periods, to: now)
            return periods
        }
        var summary = Summary()
        summary.hosts = Self.top(previous.hosts, present.hosts, count) {
            Host(name: $0, count: $1, failures: $2[0], bytes: $2[1], fetch: $2[2])
        }
        summary.presets = Self.top(previous.presets, present.presets, count) {
            Preset(name: $0, count: $1, failures: $2[0], work: $2[1])
        }
        summary.slow = Array((previous.slow + present.slow).sorted { $0.work > $1.work }.prefix(count))
        var failures = present.failures
        for failure in previous.failures {
            if let index = failures.firstIndex(where: { $0.code == failure.code }) {
                failures[index].count += failure.count
            } else {
                failures.append(failure)
            }
        }
        summary.failures = Array(failures.sorted { ($0.count, $1.code) > ($1.count, $0.code) }.prefix(count))
        return summary
    }

    // MARK: - Steps

    /// Begins a new period where the time has come.
    private static func advance(_ periods: inout (previous: Period, present: Period), to now: UInt64) {
        let number = now / period
        // Loops report a little out of order.
        guard number > periods.present.number else { return }
        periods.previous = number == periods.present.number + 1 ? periods.present : Period()
        periods.present = Period(number: number)
    }

    private static func name(_ miss: AccessRecord.Miss) -> String {
        miss.port == 0 || miss.port == 80 || miss.port == 443 ? miss.host : "\(miss.host):\(miss.port)"
    }

    private static func slow(_ record: AccessRecord, _ miss: AccessRecord.Miss) -> Slow {
        Slow(
            source: cut(miss.url.isEmpty ? name(miss) : miss.url), preset: cut(miss.preset),
            requestID: record.requestID.string, queue: miss.queue, fetch: miss.fetch, decode: miss.decode,
            transform: miss.transform, encode: miss.encode)
    }

    private static func failure(_ record: AccessRecord, _ miss: AccessRecord.Miss) -> Failure {
        Failure(
            code: cut(miss.problem), count: 1, status: record.status,
            host: cut(miss.host.isEmpty ? "" : name(miss)),
            reason: cut(miss.reason), requestID: record.requestID.string)
    }

    private static func cut(_ text: String) -> String {
        text.utf8.count <= maxTextBytes
            ? text : String(decoding: text.utf8.prefix(maxTextBytes), as: UTF8.self)
    }

    private static func insert(_ slow: Slow, into list: inout [Slow]) {
        guard list.count == maxSlow else { return list.append(slow) }
        guard let index = list.indices.min(by: { list[$0].work < list[$1].work }),
            list[index].work < slow.work
        else { return }
        list[index] = slow
    }

    /// The newest of a code stands for it. Codes are the program's own, so there are few.
    private static func insert(_ failure: Failure, into list: inout [Failure]) {
        if let index = list.firstIndex(where: { $0.code == failure.code }) {
            let count = list[index].count + 1
            list[index] = failure
            list[index].count = count
        } else if list.count < maxNames {
            list.append(failure)
        }
    }

    private static func top<Value>(
        _ previous: TopTable, _ present: TopTable, _ count: Int, _ make: (String, Int, [Int]) -> Value
    ) -> [Value] {
        var rows = Dictionary(
            uniqueKeysWithValues: present.rows.map { ($0.name, (count: $0.count, sums: $0.sums)) })
        for row in previous.rows {
            let sums = rows[row.name].map { zip($0.sums, row.sums).map(&+) } ?? row.sums
            rows[row.name] = ((rows[row.name]?.count ?? 0) + row.count, sums)
        }
        let ranked = rows.sorted { ($0.value.count, $1.key) > ($1.value.count, $0.key) }
        return ranked.prefix(count).map { make($0.key, $0.value.count, $0.value.sums) }
    }
}
