// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Bodies
@testable import Cache
@testable import Freshness
@testable import Primitives
@testable import Sharing

/// Purges of this node and of others.
extension SharedTierTests {
    @Test("Without the journal nothing is looked up, nor uploaded")
    func noJournal() async throws {
        let fixture = try Fixture()
        await fixture.share(fixture.record(), fixture.entry())

        _ = await fixture.tier.lookUp(Fixture.subject, withResult: true)

        #expect(fixture.origin.log.requests.isEmpty && fixture.names.isEmpty)
        #expect(fixture.tier.statistics.requests[.get]?[.skipped] == 2)
    }

    @Test(
        "What was fetched before a purge is not used, also where it is uploaded after it",
        arguments: [
            PurgeTarget.source(SharingFixture.subject.source), .key(SharingFixture.subject.source),
            .prefix("http://o/"), .tag("red"), .everything,
        ])
    func purged(target: PurgeTarget) async throws {
        let fixture = try Fixture(skew: 50_000)
        await fixture.read()
        let early = fixture.record()
        let purge = SharedPurge(target, node: "other", milliseconds: (fixture.storeTime.time + 60) * 1_000)
        fixture.storeTime.advance(by: 60)
        fixture.local.advance(by: 60)
        fixture[purge.name] = Fixture.Stored(
            content: [], storedAt: fixture.storeTime.time, metadata: [:])
        // A node that has not read the journal since uploads what it had.
        fixture.storeTime.advance(by: 10)
        fixture.local.advance(by: 10)
        await fixture.share(early, fixture.entry(), tags: ["red"])
        #expect(
            await fixture.tier.record(of: Fixture.subject) != nil, "this node does not know of the purge yet")

        await fixture.read()

        #expect(await fixture.tier.record(of: Fixture.subject) == nil)
        fixture.storeTime.advance(by: 10)
        fixture.local.advance(by: 10)
        await fixture.share(fixture.record(), fixture.entry(), tags: ["red"])
        let (record, result) = await fixture.tier.lookUp(Fixture.subject, withResult: true)
        #expect(record != nil && result != nil, "what was fetched after it is used")
    }

    @Test("A purge of this node holds at once, deletes what there is, and is in the journal")
    func purging() async throws {
        let fixture = try Fixture()
        await fixture.read()
        await fixture.share(fixture.record(), fixture.entry())
        await fixture.share(fixture.record(), fixture.entry(.original))
        #expect(fixture.names.count == 3)

        let purge = fixture.tier.begin(.source(Fixture.subject.source))
        #expect(await fixture.tier.record(of: Fixture.subject) == nil)
        let outcome = await fixture.tier.end(purge)

        #expect(outcome == SharedPurgeOutcome(deleted: 3))
        #expect(fixture.names == [purge.name])
    }

    @Test("A purge that the store does not take is written with a later reading, and answered as incomplete")
    func unwritten() async throws {
        let fixture = try Fixture()
        await fixture.read()
        fixture.break_(by: .status(503))

        let purge = fixture.tier.begin(.source(Fixture.subject.source))
        let outcome = await fixture.tier.end(purge)
        fixture.break_(by: nil)
        fixture.storeTime.advance(by: 500)
        fixture.local.advance(by: 500)
        await fixture.read()

        #expect(outcome.problem?.contains("other nodes do not learn of it yet") == true)
        // Under the present time: the others do not look for an earlier one any more.
        let written = try fixture.names.map { try #require(SharedPurge(name: $0)) }
        #expect(written.map(\.target) == [purge.target])
        #expect(try #require(written.first).milliseconds >= purge.milliseconds + 500_000)
    }

    @Test(
        "A purge that the store does not take is written by the next process, and once",
        arguments: [.status(503), .body(Array("<html>Please log in</html>".utf8))] as [OriginAnswer])
    func unwrittenAcrossRestart(answer: OriginAnswer) async throws {
        let fixture = try Fixture()
        await fixture.read()
        fixture.break_(by: answer)
        let purge = fixture.tier.begin(.source(Fixture.subject.source))
        #expect(await fixture.tier.end(purge).problem != nil)
        fixture.break_(by: nil)

        let restarted = fixture.restartedJournal()
        #expect(restarted.isPurged(Fixture.subject, tags: [], madeAt: Fixture.noon))
        _ = try await restarted.read(from: 0)
        #expect(fixture.names.compactMap { SharedPurge(name: $0)?.target } == [purge.target])
        _ = try await fixture.restartedJournal().read(from: 0)

        #expect(fixture.names.count == 1)
    }

    @Test(
        "A purge that is dated by a wrong clock is written again under the store's time",
        arguments: [86_400, -86_400])
    func wrongClock(skew: Int64) async throws {
        let fixture = try Fixture(skew: skew)

        let outcome = await fixture.tier.end(fixture.tier.begin(.everything))

        #expect(outcome.problem == nil)
        let times = fixture.names.compactMap { SharedPurge(name: $0)?.milliseconds }
        #expect(times.contains(Fixture.noon * 1_000))
    }

    /// A list as the store sends it.
    static func list(isCut: Bool, _ objects: String) -> String {
        "<ListBucketResult><IsTruncated>\(isCut)</IsTruncated>\(objects)</ListBucketResult>"
    }

    static let object =
        "<Contents><Key>p/999999999999999-n-a</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"

    @Test(
        "The journal is not read by an answer that is no list, nor by a list that does not advance",
        arguments: [
            "", "<html>Please log in</html>", "<ListBucketResult></ListBucketResult>",
            "<ListBucketResult><IsTruncated>false</IsTruncated>" + object, list(isCut: true, ""),
            list(isCut: true, object), list(isCut: false, "<Contents><Key>p/1-n-a</Key></Contents>"),
        ])
    func noList(text: String) async throws {
        let fixture = try Fixture()
        fixture.break_(by: .body(Array(text.utf8)))

        let outcome = await fixture.tier.readJournal(from: 0) { _ in true }

        #expect(throws: ExchangeError.self) { try outcome.get() }
        #expect(!fixture.tier.journal.isCurrent)
    }

    @Test("A journal that has never been read is as old as the process, and each failure is counted")
    func neverRead() async throws {
        let fixture = try Fixture()
        fixture.break_(by: .status(503))
        await fixture.read()
        fixture.monotonic.advance(by: .seconds(61))

        #expect(fixture.tier.statistics.journalAge == 61)
        #expect(fixture.tier.statistics.requests[.get]?[.failed] == 1)
    }

    @Test("Each exchange is counted and timed once, those of the journal, of sweeps and of purges, too")
    func counted() async throws {
        let fixture = try Fixture()
        await fixture.read()
        _ = await fixture.tier.record(of: Fixture.subject)
        _ = try await fixture.tier.sweep(1)
        _ = await fixture.tier.end(fixture.tier.begin(.source(Fixture.subject.source)))

        let counted = fixture.tier.statistics.requests.mapValues { $0.values.reduce(0, +) }
        #expect(counted == fixture.timed.value)
        #expect(counted.values.reduce(0, +) == fixture.origin.log.requests.count && counted.count == 4)
    }

    @Test(
        "A purge that can't be done here is done with the next reading, and the place to begin stays before it"
    )
    func undone() async throws {
        let fixture = try Fixture()
        let purge = SharedPurge(.tag("a"), node: "one", milliseconds: Fixture.noon * 1_000)
        fixture[purge.name] = Fixture.Stored(content: [], storedAt: Fixture.noon, metadata: [:])
        fixture.storeTime.advance(by: 50)
        let later = SharedPurge(.tag("b"), node: "one", milliseconds: (Fixture.noon + 40) * 1_000)
        fixture[later.name] = Fixture.Stored(content: [], storedAt: Fixture.noon + 40, metadata: [:])

        let first = await fixture.tier.readJournal(from: 0) { $0 != purge }
        let tried = Observed<[SharedPurge]>([])
        let second = await fixture.tier.readJournal(from: 0) { purge in
            tried.update { $0.append(purge) }
            return true
        }

        #expect(try first.get() == purge.milliseconds && second.get() == later.milliseconds)
        #expect(tried.value == [purge])
    }

    @Test("A purge that was reported and could not be done is done when it is reported again, or read")
    func reportedUndone() async throws {
        let fixture = try Fixture()
        await fixture.read()
        let journal = fixture.tier.journal
        let purge = SharedPurge(.tag("a"), node: "one", milliseconds: Fixture.noon * 1_000)
        fixture[purge.name] = Fixture.Stored(content: [], storedAt: Fixture.noon, metadata: [:])

        #expect(journal.note(purge) == .new && journal.note(purge) == .new)
        #expect(try await journal.read(from: 0) == [purge])
        journal.postpone(undone: purge)
        #expect(journal.note(purge) == .new, "that it was read does not say that it was done")
        journal.didPerform(purge)

        #expect(journal.note(purge) == .known)
        #expect(try await journal.read(from: 0).isEmpty)
    }

    @Test("Of more purges than can wait to be done here, everything is purged in their place")
    func tooManyUndone() async throws {
        let fixture = try Fixture()
        fixture.storeTime.advance(by: 50)
        let later = SharedPurge(.tag("b"), node: "one", milliseconds: (Fixture.noon + 40) * 1_000)
        fixture[later.name] = Fixture.Stored(content: [], storedAt: Fixture.noon + 40, metadata: [:])
        await fixture.read()
        let journal = fixture.tier.journal
        let times = (0...Int64(PurgeJournal.maxUndone)).map { Fixture.noon * 1_000 + $0 }

        for time in times {
            journal.postpone(undone: SharedPurge(.tag("a"), node: "one", milliseconds: time))
        }
        let position = journal.position
        let undone = try await journal.read(from: 0)

        #expect(undone.map(\.target) == [.everything] && position == times[0])
    }

    @Test("A message about a purge is done once, and not where its time is far from the store's")
    func messages() async throws {
        let fixture = try Fixture(skew: 7_000)
        await fixture.read()
        func message(_ seconds: Int64) -> SharedPurge {
            SharedPurge(.everything, node: "one", milliseconds: (Fixture.noon + seconds) * 1_000)
        }
        #expect(fixture.tier.journal.note(message(0)) == .new)
        fixture.tier.journal.didPerform(message(0))
        #expect(fixture.tier.journal.note(message(0)) == .known)
        #expect(fixture.tier.journal.note(message(-601)) == .outOfTime)
        #expect(fixture.tier.journal.note(message(601)) == .outOfTime)
    }

    @Test("A picture that is purged while it is uploaded is deleted again")
    func purgedMeanwhile() async throws {
        let fixture = try Fixture()
        await fixture.read()
        let log = PurgeLog()
        let token = log.token(for: Fixture.subject.source)
        fixture.origin.route("/pictures/" + ObjectName.record(of: Fixture.subject.source)) { request in
            if request.method == "PUT" {
                log.begin([Fixture.subject.source])
                log.end([Fixture.subject.source])
            }
            return .status(200, fields: [("ETag", "\"a\"")])
        }
        await fixture.share(fixture.record(), fixture.entry(), token: token)

        #expect(fixture.names.isEmpty)
    }

    @Test("Another node's purges are handed on once each, this node's never")
    func handedOn() async throws {
        let fixture = try Fixture()
        let first = SharedPurge(.tag("a-b"), node: "one", milliseconds: Fixture.noon * 1_000)
        fixture[first.name] = Fixture.Stored(content: [], storedAt: Fixture.noon, metadata: [:])

        let found = Observed<[SharedPurge]>([])
        for _ in 0..<3 {
            _ = await fixture.tier.readJournal(from: 0) { purge in
                found.update { $0.append(purge) }
                return true
            }
        }
        let own = fixture.tier.begin(.everything)
        _ = await fixture.tier.end(own)
        _ = await fixture.tier.readJournal(from: 0) { purge in
            found.update { $0.append(purge) }
            return true
        }

        #expect(found.value == [first])
        #expect(fixture.names.contains(own.name))
    }

    @Test("A node with a clock that is far ahead reads the purges of now")
    func aheadOfTime() async throws {
        let fixture = try Fixture(skew: 86_400 * 4_000)
        let purge = SharedPurge(
            .source(Fixture.subject.source), node: "one", milliseconds: Fixture.noon * 1_000)
        fixture[purge.name] = Fixture.Stored(content: [], storedAt: Fixture.noon, metadata: [:])

        let found = Observed<[SharedPurge]>([])
        _ = await fixture.tier.readJournal(from: 0) { purge in
            found.update { $0.append(purge) }
            return true
        }

        #expect(found.value == [purge])
    }
}
