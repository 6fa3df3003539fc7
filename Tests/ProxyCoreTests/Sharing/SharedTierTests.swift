// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Bodies
@testable import Cache
@testable import Freshness
@testable import Primitives
@testable import Sharing

@Suite("The tier that nodes share")
struct SharedTierTests {
    typealias Fixture = SharingFixture

    @Test("What one node has uploaded another one finds, picture and record at the same time")
    func found() async throws {
        let fixture = try Fixture()
        await fixture.read()
        await fixture.share(fixture.record(), fixture.entry())

        let (record, result) = await fixture.tier.lookUp(Fixture.subject, withResult: true)

        #expect(record?.contentHash == fixture.record().contentHash && record?.reuse.entityTag == "\"a\"")
        #expect(result?.body == Fixture.picture && result?.description.width == 3)
        #expect(
            fixture.names
                == [
                    ObjectName.record(of: Fixture.subject.source),
                    ObjectName.result(Fixture.subject.result, of: Fixture.subject.source),
                ].sorted())
    }

    @Test(
        "A result comes with a record of other content, and without any, as what the caller may still confirm"
    )
    func otherContent() async throws {
        let fixture = try Fixture()
        await fixture.read()
        await fixture.share(fixture.record(), fixture.entry())
        await fixture.share(fixture.record(content: Array("changed".utf8)))

        let (record, result) = await fixture.tier.lookUp(Fixture.subject, withResult: true)

        #expect(record?.contentHash == ContentHash(of: Array("changed".utf8)))
        #expect(result?.description.sourceHash == ContentHash(of: Fixture.original))
        fixture[ObjectName.record(of: Fixture.subject.source)] = nil
        let alone = await fixture.tier.lookUp(Fixture.subject, withResult: true)
        #expect(alone.record == nil && alone.result?.body == Fixture.picture)
        #expect(fixture.tier.statistics.hits == [.result: 2], "a record is no picture")
    }

    @Test("An original is found by its content, whichever source it is of")
    func original() async throws {
        let fixture = try Fixture()
        await fixture.read()
        await fixture.share(fixture.record(), fixture.entry(.original))
        var other = Fixture.subject
        (other.source, other.sourceText) = (CacheKey(canonicalText: "source b"), "source b")

        let found = await fixture.tier.original(ContentHash(of: Fixture.original), of: other)
        let missing = await fixture.tier.original(ContentHash(of: [1]), of: other)

        #expect(found?.body == Fixture.original)
        #expect(found?.description.key == other.source && found?.description.keyText == "source b")
        #expect(missing == nil)
        #expect(fixture.tier.statistics.hits == [.original: 1])
        #expect(fixture.tier.statistics.misses == [.original: 1])
    }

    @Test(
        "An age is counted by the store's clock, however wrong the nodes' clocks are",
        arguments: [-86_400, 0, 86_400 * 400])
    func clocks(skew: Int64) async throws {
        let fixture = try Fixture(skew: skew)
        await fixture.read()
        // Received 40 s before it is uploaded, which is 100 s before another node asks.
        await fixture.share(fixture.record(receivedAt: fixture.local.time - 40))
        fixture.storeTime.advance(by: 100)

        let record = try #require(await fixture.tier.record(of: Fixture.subject))

        #expect(record.currentAge(at: fixture.local.now) == 5 + 40 + 100)
    }

    @Test("The time between the response and its upload counts to the millisecond")
    func milliseconds() async throws {
        let fixture = try Fixture()
        await fixture.read()
        var sent = fixture.record()
        sent.reuse.responseTime = fixture.local.now - .milliseconds(40_600)
        await fixture.share(sent)
        fixture.storeTime.advance(by: 100)

        let record = try #require(await fixture.tier.record(of: Fixture.subject))
        let received = fixture.local.now
        fixture.local.advance(milliseconds: 399)
        let before = record.currentAge(at: fixture.local.now)
        fixture.local.advance(milliseconds: 1)

        #expect(record.currentAge(at: received) == 5 + 40 + 100 && before == 145)
        #expect(record.currentAge(at: fixture.local.now) == 146)
    }

    @Test("An object that claims an age beyond all times is too old, not a failure")
    func absurdAge() async throws {
        let fixture = try Fixture()
        await fixture.read()
        await fixture.share(fixture.record())
        for name in fixture.names { fixture[name]?.metadata["age"] = "\(Int64.max)" }

        let record = await fixture.tier.record(of: Fixture.subject)

        #expect(record?.isFresh(at: fixture.local.now) != true)
    }

    @Test("A result is as old here as the store says, whatever time its object names")
    func storedAt() async throws {
        let fixture = try Fixture()
        await fixture.read()
        var entry = fixture.entry()
        entry.description.storedAt = 1 << 49
        await fixture.share(fixture.record(), entry)
        fixture.storeTime.advance(by: 7)
        fixture.local.advance(by: 9)

        let result = await fixture.tier.result(of: Fixture.subject, madeFrom: nil)

        #expect(result?.description.storedAt == fixture.local.time - 7)
    }

    @Test("What is past maxAge is not used")
    func tooOld() async throws {
        let fixture = try Fixture { $0.maxAge = .hours(1) }
        await fixture.read()
        await fixture.share(fixture.record(), fixture.entry())
        fixture.storeTime.advance(by: 3_601)

        let found = await fixture.tier.lookUp(Fixture.subject, withResult: true)

        #expect(found.record == nil && found.result == nil)
    }

    // MARK: - Faults

    @Test("Bytes that changed anywhere in an object are not used")
    func damage() async throws {
        let fixture = try Fixture()
        await fixture.read()
        await fixture.share(fixture.record(), fixture.entry())
        for name in fixture.names {
            let whole = try #require(fixture[name])
            for place in stride(from: 0, to: whole.content.count, by: 7) {
                var damaged = whole
                damaged.content[place] ^= 0x10
                fixture[name] = damaged
                let (record, result) = await fixture.tier.lookUp(Fixture.subject, withResult: true)
                #expect(record == nil || result == nil, "\(name), byte \(place)")
            }
            var short = whole
            short.content.removeLast()
            fixture[name] = short
            let (record, result) = await fixture.tier.lookUp(Fixture.subject, withResult: true)
            #expect(record == nil || result == nil)
            fixture[name] = whole
        }
    }

    @Test("What can't be used is replaced as soon as it is made again, however cheap that was")
    func replaced() async throws {
        let fixture = try Fixture { $0.minUses = 9 }
        await fixture.read()
        await fixture.share(fixture.record(), fixture.entry())
        let name = ObjectName.result(Fixture.subject.result, of: Fixture.subject.source)
        fixture[name]?.content[20] ^= 1

        _ = await fixture.tier.lookUp(Fixture.subject, withResult: true)
        let token = PurgeLog().token(for: Fixture.subject.source)
        let content = SharedUpload.Content(record: fixture.record(), entry: fixture.entry())
        fixture.tier.offer(
            SharedUpload(.result, of: Fixture.subject, token: token) { content }, cost: 0)
        await fixture.origin.wait { $0.completions["/pictures/" + name, default: 0] >= 3 }

        #expect(await fixture.tier.result(of: Fixture.subject, madeFrom: nil)?.body == Fixture.picture)
    }

    @Test("The object of another key under this one's name is not used")
    func confused() async throws {
        let fixture = try Fixture()
        await fixture.read()
        await fixture.share(fixture.record(), fixture.entry())
        var other = Fixture.subject
        (other.source, other.sourceText) = (CacheKey(canonicalText: "source b"), "source b")
        (other.result, other.resultText) = (CacheKey(canonicalText: "result b"), "result b")
        fixture[ObjectName.record(of: other.source)] = fixture[ObjectName.record(of: Fixture.subject.source)]
        fixture[ObjectName.result(other.result, of: other.source)] =
            fixture[ObjectName.result(Fixture.subject.result, of: Fixture.subject.source)]

        let (record, _) = await fixture.tier.lookUp(other, withResult: true)
        let result = await fixture.tier.result(of: other, madeFrom: nil)

        #expect(record == nil && result == nil)
    }

    @Test(
        "A store that fails is a miss, and is left alone after five failures in a row",
        arguments: [
            OriginAnswer.status(503), .status(500), .status(403), .truncated([1, 2], declaring: 900),
            OriginAnswer([.close]), OriginAnswer([.reset]), .body([1], status: 429),
        ])
    func failing(answer: OriginAnswer) async throws {
        let fixture = try Fixture()
        await fixture.read()
        fixture.break_(by: answer)
        let name = "/pictures/" + ObjectName.record(of: Fixture.subject.source)

        for _ in 0..<SharedTier.breakerRules.failures {
            #expect(await fixture.tier.record(of: Fixture.subject) == nil)
        }
        let asked = fixture.origin.count(name)
        #expect(await fixture.tier.record(of: Fixture.subject) == nil)

        #expect(fixture.tier.statistics.isBreakerOpen)
        #expect(fixture.origin.count(name) == asked)
        #expect(fixture.tier.statistics.requests[.get]?[.skipped] == 1)
    }

    @Test("A store that does not answer delays a look-up by shared.timeout, and then by nothing")
    func silent() async throws {
        let fixture = try Fixture { $0.timeout = .seconds(1) }
        await fixture.read()
        fixture.break_(by: .silence)
        let name = "/pictures/" + ObjectName.record(of: Fixture.subject.source)

        for number in 1...SharedTier.breakerRules.failures {
            async let found = fixture.tier.lookUp(Fixture.subject, withResult: false)
            await fixture.origin.waitForRequests(name, count: number)
            await fixture.timer.advance(by: .seconds(1), when: 1)
            _ = await found
        }
        let found = await fixture.tier.lookUp(Fixture.subject, withResult: true)

        #expect(found.record == nil)
        #expect(fixture.tier.statistics.requests[.get]?[.timedOut] == SharedTier.breakerRules.failures)
        #expect(fixture.tier.statistics.requests[.get]?[.skipped] == 2)
    }

    @Test("An upload waits while the store is left alone, and is made when it answers again")
    func waitingUpload() async throws {
        let fixture = try Fixture()
        await fixture.read()
        fixture.break_(by: .status(503))
        for _ in 0..<SharedTier.breakerRules.failures { _ = await fixture.tier.record(of: Fixture.subject) }
        #expect(fixture.tier.statistics.isBreakerOpen)
        fixture.break_(by: nil)

        let content = SharedUpload.Content(record: fixture.record(), entry: fixture.entry())
        let token = PurgeLog().token(for: Fixture.subject.source)
        fixture.tier.offer(
            SharedUpload(.result, of: Fixture.subject, token: token) { content }, cost: 10_000)
        await fixture.timer.advance(by: .zero, when: 1)
        fixture.monotonic.advance(by: SharedTier.breakerRules.pause.duration)
        await fixture.timer.advance(by: SharedTier.breakerRules.pause.duration, when: 1)
        let name = "/pictures/" + ObjectName.result(Fixture.subject.result, of: Fixture.subject.source)
        await fixture.origin.wait { $0.completions[name, default: 0] >= 1 }

        #expect(fixture.names.count >= 1)
    }

    @Test("A client that leaves says nothing of the store")
    func leaving() async throws {
        let fixture = try Fixture()
        await fixture.read()
        fixture.break_(by: .silence)
        let name = "/pictures/" + ObjectName.record(of: Fixture.subject.source)

        for round in 1...SharedTier.breakerRules.failures + 1 {
            let task = Task { await fixture.tier.record(of: Fixture.subject) }
            await fixture.origin.waitForRequests(name, count: round)
            task.cancel()
            #expect(await task.value == nil)
        }

        #expect(!fixture.tier.statistics.isBreakerOpen)
    }

    @Test("An object that is longer than any picture is not received")
    func tooLong() async throws {
        let fixture = try Fixture()
        await fixture.read()
        fixture.break_(by: .body([UInt8](repeating: 0, count: 3 << 20)))

        #expect(await fixture.tier.result(of: Fixture.subject, madeFrom: nil) == nil)
        #expect(await fixture.tier.record(of: Fixture.subject) == nil)
        #expect(fixture.tier.store.budget.reserve(1 << 30), "what was received is not counted any more")
    }

    // MARK: - The sweep

    /// Names of objects in a part of the bucket.
    private static func old(_ part: Int) -> String {
        "0\(part)/o/0\(part)" + String(repeating: "a", count: 62)
    }
    private static let recent = "00/s/00" + String(repeating: "b", count: 30)

    @Test("The sweep deletes what is past maxAge, in one part at a time, and once for all nodes")
    func sweep() async throws {
        let fixture = try Fixture { $0.maxAge = .hours(1) }
        await fixture.read()
        func put(_ name: String, at time: Int64) {
            fixture[name] = Fixture.Stored(content: [1], storedAt: time, metadata: [:])
        }
        put(Self.old(0), at: Fixture.noon - 3_700)
        put(Self.recent, at: Fixture.noon - 3_500)
        put(Self.old(1), at: Fixture.noon - 3_700)
        put("p/000001799900000-one-a", at: Fixture.noon - 100_000)
        put("p/000001799999000-one-a", at: Fixture.noon - 1_000)

        // The bucket may have other objects, too.
        for name in ["00/backup", "00/o/old", "00/o/0a", "p/other", "00/r/00aa/x"] { put(name, at: 0) }

        #expect(try await fixture.tier.sweep(0) == 2)
        for name in ["00/backup", "00/o/old", "00/o/0a", "p/other", "00/r/00aa/x"] {
            #expect(fixture[name] != nil)
            fixture[name] = nil
        }
        #expect(fixture.names == [Self.recent, Self.old(1), "p/000001799999000-one-a", "w/00"])
        put(Self.old(0), at: Fixture.noon - 3_700)
        #expect(try await fixture.tier.sweep(0) == 0, "another node has swept it")
        fixture.storeTime.advance(by: 86_401)
        #expect(try await fixture.tier.sweep(0) == 2)
    }
}
