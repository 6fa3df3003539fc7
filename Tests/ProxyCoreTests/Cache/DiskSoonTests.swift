// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Cache
@testable import Freshness
@testable import Primitives

@Suite("Pending bodies of the disk tier")
struct DiskSoonTests {
    let folder: TemporaryDirectory
    let clock = SteppedClock()
    let body = bytes(5_000)

    init() throws {
        folder = try TemporaryDirectory()
    }

    /// A tier that writes nothing by itself while a test runs.
    private func open(_ change: (inout DiskCacheConfiguration) -> Void = { _ in }) throws -> DiskCache {
        try openDisk(folder, clock) {
            $0.limits.storeDelay = .minutes(60)
            change(&$0)
        }
    }

    private func storeSoon(_ text: String, in disk: DiskCache, _ token: PurgeToken? = nil) -> Bool {
        disk.storeSoon(
            describe(text, kind: .original, source: text, body: body), body: body,
            checksum: Checksum.crc32c(body), record: record(text), token: token)
    }

    private func found(_ text: String, in disk: DiskCache) async throws -> [UInt8]? {
        try await disk.lookUp(key(text), kind: .original, keyText: text)?.body.readAll()
    }

    @Test(
        "A pending body is found before its file exists, with the record of its source, and in the file afterwards"
    )
    func foundAtOnce() async throws {
        let disk = try open()

        #expect(storeSoon("a", in: disk))

        #expect(folder.entryFiles.isEmpty)
        #expect(disk.mayContain(key("a"), kind: .original))
        #expect(try await found("a", in: disk) == body)
        #expect(await disk.sourceRecord(for: key("a")) == record("a"))
        let now = disk.findCached("a", kind: .original)
        #expect(
            try now?.body.readAll() == body && now?.record?.reuse.responseTime == WallTime(seconds: 1_000_000)
        )

        await disk.flush()

        #expect(folder.entryFiles.count == 1)
        #expect(try await found("a", in: disk) == body)
        #expect(disk.statistics.tally.entries == 1)
        await disk.close()
    }

    @Test("Pending bodies are written when the tier closes, and found by the next one")
    func survivesClosing() async throws {
        let first = try open()
        #expect(storeSoon("a", in: first))
        await first.close()

        let second = try open()

        #expect(try await found("a", in: second) == body)
        #expect(await second.sourceRecord(for: key("a")) == record("a"))
        await second.close()
    }

    @Test("A pending body does not answer for another text with the same key")
    func comparesTexts() async throws {
        let disk = try open()
        #expect(storeSoon("a", in: disk))

        #expect(try await disk.lookUp(key("a"), kind: .original, keyText: "b") == nil)
        await disk.close()
    }

    @Test("A purged pending body is not found, and never written")
    func purged() async throws {
        let disk = try open()
        let purgeLog = PurgeLog()
        #expect(storeSoon("a", in: disk, purgeLog.token(for: key("a"))))

        purgeLog.purge(key("a"))

        #expect(try await found("a", in: disk) == nil)
        await disk.flush()
        #expect(folder.entryFiles.isEmpty)
        await disk.close()
    }

    @Test(
        "A pending body is written although a later record of the same bytes has come, and that record counts (RFC 9111 §4.3.4)",
        arguments: [true, false])
    func laterRecord(sameContent: Bool) async throws {
        var disk = try open()
        let purgeLog = PurgeLog()
        let asked = purgeLog.token(for: key("a"))
        let first = try #require(purgeLog.claim(record("a"), receivedAt: .now, under: asked))
        #expect(storeSoon("a", in: disk, first))
        var later = sameContent ? record("a") : record("a", content: "other")
        later.reuse.responseTime = WallTime(seconds: later.reuse.responseTime.seconds + 1)
        later.reuse.freshnessLifetime = 601
        let second = try #require(
            purgeLog.claim(later, receivedAt: .now, under: purgeLog.token(for: key("a"))))
        try await disk.save(later, token: second)

        #expect(try await found("a", in: disk) == (sameContent ? body : nil))
        await disk.flush()
        await disk.close()
        disk = try open()

        #expect(folder.entryFiles.count == (sameContent ? 1 : 0))
        #expect(try await found("a", in: disk) == (sameContent ? body : nil))
        #expect(await disk.sourceRecord(for: key("a")) == later)
        let now = disk.findCached("a", kind: .original)
        #expect((now?.record?.reuse.freshnessLifetime == 601) == sameContent)
        await disk.close()
    }

    @Test("A removal that comes before the write removes a pending body")
    func removed() async throws {
        let disk = try open()
        #expect(storeSoon("a", in: disk))

        #expect(try await disk.removeAll(ofSource: key("a")) == 1)

        #expect(try await found("a", in: disk) == nil)
        #expect(folder.entryFiles.isEmpty)
        await disk.close()
    }

    @Test("A body is refused, and not found, if too much is pending or the tier is closed")
    func refused() async throws {
        let disk = try open {
            $0.limits.maxWaitingWrites = 1
        }
        #expect(storeSoon("a", in: disk))

        #expect(!storeSoon("b", in: disk))

        #expect(try await found("b", in: disk) == nil)
        await disk.close()
        #expect(!storeSoon("c", in: disk))
        #expect(folder.entryFiles.count == 1)
    }

    @Test("A failed write of a pending body leaves a later record of its source in place")
    func failedBesideNewer() async throws {
        let disk = try open()
        let unwritable = String(repeating: "x", count: DiskEntry.maxKeyTextLength + 1)
        for (text, record) in [(unwritable, record("a")), ("a", record("a", content: "newer"))] {
            #expect(
                disk.storeSoon(
                    describe(text, kind: .original, source: "a", body: body), body: body,
                    checksum: Checksum.crc32c(body), record: record))
        }
        await disk.close()

        let second = try open()

        #expect(await second.sourceRecord(for: key("a")) == record("a", content: "newer"))
        await second.close()
    }

    @Test("A failed write of a pending body leaves the record of its source in place")
    func failedAlone() async throws {
        let disk = try open()
        let unwritable = String(repeating: "x", count: DiskEntry.maxKeyTextLength + 1)
        #expect(storeSoon(unwritable, in: disk))
        await disk.flush()
        await disk.flush()
        await disk.close()

        let second = try open()

        #expect(await second.sourceRecord(for: key(unwritable)) == record(unwritable))
        await second.close()
    }
}

@Suite("The jobs that wait for the disk tier's writer")
struct WriteInboxTests {
    private let folder: TemporaryDirectory
    private let clock = SteppedClock()
    /// The jobs that have run.
    private let done = Observed<[String]>([])

    init() throws { folder = try TemporaryDirectory() }

    private func open(delay: TimeSpan, batch: Int = 100, waiting: Int = 100) throws -> DiskCache {
        try openDisk(folder, clock) {
            ($0.limits.storeDelay, $0.limits.batchSize, $0.limits.maxWaitingWrites) = (delay, batch, waiting)
        }
    }

    private func job(_ name: String, isDeferred: Bool) -> WriteJob {
        WriteJob(isDeferred: isDeferred) { [done] _, _ in done.update { $0.append(name) } }
    }

    @Test("Deferred jobs run when the delay has passed, all in one batch")
    func delay() async throws {
        let disk = try open(delay: .milliseconds(20))

        for round in 1...3 {
            for name in ["a", "b"] { try disk.writer.submit(job("\(name)\(round)", isDeferred: true)) }
            await done.wait { $0.count == 2 * round }
        }

        #expect(done.value == ["a1", "b1", "a2", "b2", "a3", "b3"])
        await disk.close()
    }

    @Test("A full batch of deferred jobs runs at once")
    func fullBatch() async throws {
        let disk = try open(delay: .minutes(60), batch: 2)
        try disk.writer.submit(job("a", isDeferred: true))
        await disk.ping()
        #expect(done.value.isEmpty)

        try disk.writer.submit(job("b", isDeferred: true))

        await done.wait { $0 == ["a", "b"] }
        await disk.close()
    }

    @Test("An urgent job runs at once, after those that came before it; a deferred one that follows waits")
    func order() async throws {
        let disk = try open(delay: .minutes(60))
        try disk.writer.submit(job("a", isDeferred: true))
        try disk.writer.submit(job("b", isDeferred: false))
        await done.wait { $0.count == 2 }

        try disk.writer.submit(job("c", isDeferred: true))
        await disk.ping()

        #expect(done.value == ["a", "b"])
        await disk.close()
        #expect(done.value == ["a", "b", "c"], "the end does what waits")
    }

    @Test("The writer is woken by whatever comes while it works")
    func wokenInBetween() async throws {
        let (disk, gate) = (try open(delay: .minutes(60)), DispatchGate())
        try disk.writer.submit(
            WriteJob { [done] _, _ in
                done.update { $0.append("begun") }
                gate.pass()
            })
        await done.wait { $0 == ["begun"] }
        try disk.writer.submit(job("a", isDeferred: false))
        disk.writer.wake()
        gate.open()

        await done.wait { $0 == ["begun", "a"] }
        await disk.close()
    }

    @Test("A client has half of the places at most, and the last ones are for purges")
    func shares() {
        var inbox = WriteInbox()
        func append(_ client: UInt32?, _ count: Int) -> Int {
            (0..<count).count { _ in
                let job = WriteJob(for: client.map { ClientID(v4: $0) }) { _, _ in }
                return inbox.append(job, limit: 16)
            }
        }

        let taken = [append(1, 10), append(2, 10), append(3, 1), append(nil, 3)]
        #expect(taken == [8, 6, 0, 2])
        inbox.isDue = true
        #expect(inbox.takeBatch(8).count == 8)
        let next = [append(1, 1), append(2, 8)]
        #expect(next == [1, 2])
    }

    @Test("Beyond the bound jobs are refused, and after the end all are")
    func refused() async throws {
        let disk = try open(delay: .minutes(60), waiting: 2)
        for name in ["a", "b"] { try disk.writer.submit(job(name, isDeferred: true)) }

        #expect(throws: DiskCacheError.overloaded) { try disk.writer.submit(job("c", isDeferred: true)) }
        await disk.close()
        #expect(throws: DiskCacheError.closed) { try disk.writer.submit(job("d", isDeferred: false)) }
        #expect(done.value == ["a", "b"])
    }
}
