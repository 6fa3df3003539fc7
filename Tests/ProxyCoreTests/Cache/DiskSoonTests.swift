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
        #expect(try now?.body.readAll() == body && now?.record?.responseTime == WallTime(seconds: 1_000_000))

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
        later.responseTime = WallTime(seconds: later.responseTime.seconds + 1)
        later.freshnessLifetime = 601
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
        #expect((now?.record?.freshnessLifetime == 601) == sameContent)
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
    private let deferred = WriteJob(isDeferred: true) { _, _ in }
    private let immediate = WriteJob { _, _ in }

    @Test("Deferred jobs set one timer, and are taken when it fires")
    func alarm() throws {
        var inbox = WriteInbox(limit: 10, batchSize: 8)

        #expect(try inbox.add(deferred) == .setTimer)
        #expect(try inbox.add(deferred) == .none)
        #expect(inbox.takeBatch().isEmpty)

        let mustWake = inbox.timerFired()
        #expect(mustWake)
        #expect(inbox.takeBatch().count == 2)
        let mayRest = inbox.sleep()
        #expect(mayRest)
        #expect(try inbox.add(deferred) == .setTimer)
    }

    @Test("A full batch of deferred jobs wakes the writer")
    func fullBatch() throws {
        var inbox = WriteInbox(limit: 10, batchSize: 2)

        #expect(try inbox.add(deferred) == .setTimer)
        #expect(try inbox.add(deferred) == .wake)
        #expect(inbox.takeBatch().count == 2)
    }

    @Test("An urgent job is taken at once, together with those before it")
    func order() throws {
        var inbox = WriteInbox(limit: 10, batchSize: 8)
        _ = try inbox.add(deferred)

        #expect(try inbox.add(immediate) == .wake)

        #expect(inbox.takeBatch().map(\.isDeferred) == [true, false])
    }

    @Test("A job that comes during a batch waits for its own timer")
    func nextBatch() throws {
        var inbox = WriteInbox(limit: 10, batchSize: 4)
        _ = try inbox.add(immediate)
        _ = inbox.takeBatch()

        #expect(try inbox.add(deferred) == .setTimer)

        #expect(inbox.takeBatch().isEmpty)
        let mayRest = inbox.sleep()
        #expect(mayRest)
        let mustWake = inbox.timerFired()
        #expect(mustWake)
    }

    @Test("The writer does not sleep while a job is due")
    func staysAwake() throws {
        var inbox = WriteInbox(limit: 10, batchSize: 1)
        _ = try inbox.add(immediate)
        _ = try inbox.add(immediate)
        _ = inbox.takeBatch()

        let mayRest = inbox.sleep()
        #expect(!mayRest)
        #expect(inbox.takeBatch().count == 1)
    }

    @Test("The writer does not sleep if it was woken after it took its jobs")
    func wokenInBetween() throws {
        var inbox = WriteInbox(limit: 10, batchSize: 1)
        _ = try inbox.add(immediate)
        _ = inbox.takeBatch()

        // A store has failed for want of space, say.
        let mustWake = inbox.wake()
        #expect(!mustWake)
        var mayRest = inbox.sleep()
        #expect(!mayRest)
        #expect(inbox.takeBatch().isEmpty)
        mayRest = inbox.sleep()
        #expect(mayRest)
    }

    @Test("A timer that fires late finds no job")
    func lateAlarm() throws {
        var inbox = WriteInbox(limit: 10, batchSize: 4)
        _ = try inbox.add(deferred)
        _ = try inbox.add(immediate)
        _ = inbox.takeBatch()

        let mustWake = inbox.timerFired()
        #expect(!mustWake)
    }

    @Test("Closing makes all deferred jobs due, and refuses more")
    func closing() throws {
        var inbox = WriteInbox(limit: 10, batchSize: 4)
        _ = try inbox.add(deferred)

        inbox.close()

        #expect(inbox.takeBatch().count == 1)
        #expect(throws: DiskCacheError.closed) { try inbox.add(deferred) }
    }
}
