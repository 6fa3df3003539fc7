// SPDX-License-Identifier: Apache-2.0

@testable import Cache
import Testing

@testable import Primitives
@testable import Sharing

@Suite("Purges of all nodes")
struct PurgeTimesTests {
    private func key(_ text: String) -> CacheKey { CacheKey(canonicalText: text) }

    @Test(
        "A purge's name says everything, and is read back",
        arguments: [
            PurgeTarget.source(CacheKey(high: 1, low: .max)), .key(CacheKey(high: 0, low: 0)),
            .tag("a-b_c:1.2"), .tag(""), .prefix("https://example.org/ä/"), .everything,
        ])
    func names(target: PurgeTarget) throws {
        let purge = SharedPurge(target, node: "9f", milliseconds: 1_800_000_000_123)

        #expect(SharedPurge(name: purge.name) == purge)
        #expect(purge.name.hasPrefix("p/001800000000123-9f-"))
    }

    @Test(
        "A name that is none of a purge is refused",
        arguments: [
            "", "p/", "p/1-2", "p/x-n-a", "p/-1-n-a", "p/1-n-ax", "p/1-n-s12", "p/1--a", "p/1-n-t!",
            "s/1-n-a",
            "p/1-\(String(repeating: "n", count: 33))-a", "p/1-n-t\(String(repeating: "A", count: 2_000))",
        ])
    func invalid(name: String) {
        #expect(SharedPurge(name: name) == nil)
    }

    @Test("A prefix too long for a name is shortened, so that more is purged")
    func longPrefix() throws {
        let text = "https://example.org/" + String(repeating: "ä", count: 2_000)
        let purge = SharedPurge(.prefix(text), node: "n", milliseconds: 1)

        let read = try #require(SharedPurge(name: purge.name))
        guard case .prefix(let short) = read.target else { return #expect(Bool(false), "\(read)") }

        #expect(text.hasPrefix(short) && short.utf8.count > 590 && purge.name.utf8.count <= 1_024)
    }

    @Test("The last purge that concerns a picture counts")
    func last() {
        var times = PurgeTimes()
        func last(tags: [String] = []) -> Int64 {
            times.last(source: key("s"), result: key("r"), url: "http://o/a/b.jpg", tags: tags)
        }
        #expect(last() == .min)
        times.note(.source(key("other")), at: 90)
        times.note(.prefix("http://o/b"), at: 90)
        times.note(.tag("t"), at: 40)
        #expect(last() == .min && last(tags: ["t"]) == 40)
        times.note(.key(key("r")), at: 50)
        #expect(last(tags: ["t"]) == 50)
        times.note(.prefix("http://o/a/"), at: 60)
        times.note(.source(key("s")), at: 55)
        #expect(last() == 60)
        times.note(.source(key("s")), at: 70)
        times.note(.source(key("s")), at: 65)
        #expect(last() == 70)
        times.note(.everything, at: 80)
        #expect(last() == 80)
    }

    @Test(
        "An earlier purge that is read again takes nothing back",
        arguments: [
            PurgeTarget.source(CacheKey(canonicalText: "s")), .key(CacheKey(canonicalText: "r")), .tag("t"),
            .prefix("http://o/a/"), .everything,
        ])
    func readAgain(target: PurgeTarget) {
        var times = PurgeTimes()
        for time: Int64 in [40, 70, 40] { times.note(target, at: time) }

        #expect(times.last(source: key("s"), result: key("r"), url: "http://o/a/b.jpg", tags: ["t"]) == 70)
    }

    @Test("Two purges of one target within a second have two names, with a journal and without one")
    func twice() throws {
        let (seen, journal) = (SeenPurges { 1_800_000_000 }, try SharingFixture().tier.journal)
        let alone = (0..<3).map { _ in seen.newPurge(.everything, node: "me") }
        let written = (0..<3).map { _ in journal.newPurge(.everything) }

        #expect(Set(alone.map(\.name)).count == 3 && Set(written.map(\.name)).count == 3)
        #expect(
            alone.allSatisfy { seen.note($0) == .known } && written.allSatisfy { journal.note($0) == .known })
    }

    @Test(
        "A journal remembers 262,144 purges as done; with one more it forgets them, and does again what is reported"
    )
    func bound() throws {
        let journal = try SharingFixture().tier.journal
        func purge(_ number: Int) -> SharedPurge {
            SharedPurge(.everything, node: "n", milliseconds: SharingFixture.noon * 1_000 + Int64(number))
        }

        for number in 1...262_144 { journal.didPerform(purge(number)) }
        let before = [1, 262_144].map { journal.note(purge($0)) }
        journal.didPerform(purge(262_145))

        #expect(before == [.known, .known] && journal.note(purge(1)) == .new)
    }

    @Test("Without a journal a purge that could not be done is new when it is reported again")
    func reportedAgain() {
        let seen = SeenPurges { 1_800_000_000 }
        let purge = SharedPurge(.everything, node: "one", milliseconds: 1_800_000_000_000)

        #expect(seen.note(purge) == .new && seen.note(purge) == .new)
        seen.didPerform(purge)
        #expect(seen.note(purge) == .known)
    }

    @Test("Where a purge is forgotten, everything from before it counts as purged")
    func bounded() {
        var times = PurgeTimes(capacity: 3)
        for index in 1...10 { times.note(.source(key("s\(index)")), at: Int64(index)) }
        #expect(times.count == 3 && times.floor == 7)
        #expect(times.last(source: key("x"), result: nil, url: "", tags: []) == 7)
        #expect(times.last(source: key("s9"), result: nil, url: "", tags: []) == 9)
        for index in 0..<PurgeTimes.maxPrefixes + 5 {
            times.note(.prefix("p\(index)"), at: 100 + Int64(index))
        }
        #expect(times.floor == 104)
        for _ in 0..<PurgeTimes.maxPrefixes { times.note(.prefix("p200"), at: 1_000) }
        #expect(times.floor == 104, "one prefix takes one place")
    }

    @Test("A source that is purged again is forgotten as late as any other")
    func again() {
        var times = PurgeTimes(capacity: 3)
        for (text, time) in [("a", 1), ("b", 2), ("c", 3), ("a", 4), ("d", 5)] {
            times.note(.source(key(text)), at: Int64(time))
        }
        #expect(times.floor == 2 && times.count == 3)
        for time in 6..<1_000 { times.note(.source(key("a")), at: Int64(time)) }
        #expect(times.count == 3 && times.floor == 2)
    }
}
