// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Observability

@Suite("Recent work")
struct RecentWorkTests {
    private static func record(
        host: String, second: UInt64 = 0, problem: String = "", work: Int = 0, preset: String = "",
        reason: String = ""
    ) -> AccessRecord {
        var record = AccessRecord(
            finishedAt: second * 1_000_000_000, duration: 1, status: problem.isEmpty ? 200 : 502, bytes: 10,
            route: .img, cache: problem.isEmpty ? .miss : .none)
        var miss = AccessRecord.Miss(host: host)
        miss.port = 443
        (miss.problem, miss.encode, miss.preset, miss.reason, miss.fetch) = (problem, work, preset, reason, 5)
        record.miss = miss
        return record
    }

    @Test("A host that is requested often stays in the table, however many others are requested once")
    func heavyHitter() {
        let work = RecentWork()

        for number in 0..<20_000 {
            work.record(Self.record(host: number % 20 == 0 ? "often.example" : "host\(number).example"))
        }
        let hosts = work.summary(at: 0).hosts

        #expect(hosts.count == 10)
        #expect(hosts[0].name == "often.example")
        // Never more than there were; what it lost is what it may have had before it came into the table.
        #expect(hosts[0].count <= 1_000 && hosts[0].count > 500)
    }

    @Test("A table is bounded in rows and bytes, whatever names it is given")
    func bounded() {
        var table = TopTable(capacity: 4, maxNameBytes: 8)

        for number in 0..<100 {
            table.count("\(number)" + String(repeating: "x", count: 1 << 16), adding: [number])
        }

        #expect(table.rows.count == 4)
        #expect(table.rows.allSatisfy { $0.name.utf8.count <= 8 })
    }

    @Test("A row that takes another's place has its own sums alone")
    func replaced() {
        var table = TopTable(capacity: 1, maxNameBytes: 8)

        table.count("a", adding: [7])
        table.count("a", adding: [7])
        table.count("b", adding: [1])

        #expect(table.rows.map(\.name) == ["b"])
        #expect(table.rows.map(\.count) == [1] && table.rows.map(\.sums) == [[1]])
    }

    @Test("Hosts, presets and failures of the period before are added, and those before that are forgotten")
    func periods() {
        let work = RecentWork()
        work.record(Self.record(host: "a", second: 10, preset: "thumb"))
        work.record(Self.record(host: "a", second: 10, problem: "tls_failed", reason: "old"))
        work.record(Self.record(host: "a", second: 310, problem: "tls_failed", reason: "new"))

        let both = work.summary(at: 320_000_000_000)
        let later = work.summary(at: 620_000_000_000)
        let none = work.summary(at: 2_000_000_000_000)

        #expect(both.hosts.map(\.count) == [3] && both.hosts.map(\.failures) == [2])
        #expect(both.hosts.map(\.bytes) == [30] && both.hosts.map(\.fetch) == [15])
        #expect(both.presets.map(\.name) == ["thumb"])
        #expect(both.failures.map(\.count) == [2] && both.failures.map(\.reason) == ["new"])
        #expect(later.hosts.map(\.count) == [1] && later.presets.isEmpty)
        #expect(none == RecentWork.Summary())
    }

    @Test("The slowest transforms are listed, the slowest first")
    func slow() {
        let work = RecentWork()

        for number in 1...100 { work.record(Self.record(host: "h\(number)", work: number * 37 % 101)) }

        #expect(work.summary(at: 0).slow.map(\.work) == Array((91...100).reversed()))
    }

    @Test("A failure of each code stands there, also when one code is frequent; a long reason is cut")
    func failures() {
        let work = RecentWork()
        work.record(Self.record(host: "a", problem: "rare", reason: String(repeating: "é", count: 1_000)))

        for _ in 0..<1_000 { work.record(Self.record(host: "b", problem: "frequent")) }
        let failures = work.summary(at: 0).failures

        #expect(failures.map(\.code) == ["frequent", "rare"] && failures.map(\.count) == [1_000, 1])
        #expect(failures[1].reason.utf8.count <= RecentWork.maxTextBytes)
    }

    @Test("Hits do not count, nor do requests for anything but pictures")
    func hits() {
        let hits: [Metric.Cache] = [.memory, .disk, .stale]

        #expect(hits.allSatisfy { !RecentWork.counts(.img, $0) })
        #expect(RecentWork.counts(.img, .miss) && RecentWork.counts(.info, .none))
        #expect(!RecentWork.counts(.admin, .none) && !RecentWork.counts(.other, .none))
    }
}
