// SPDX-License-Identifier: Apache-2.0

package import Cache
package import Primitives
import Synchronization

/// The purges of all nodes: objects of the bucket, read in the order of their times. Safe from any task.
///
/// Times are the store's, so that a wrong clock of a node delays nothing and brings nothing back. It is read
/// each `journalInterval`. A node knows every purge that was written more than a minute ago
/// (`longestSilence`), or does not use the tier.
package final class PurgeJournal: Sendable {
    private struct State {
        var times = PurgeTimes()
        /// Purges that have been read or done, of the last minutes, by their names.
        var seen: [String: Seen] = [:]
        /// When the journal was read to its end.
        var lastRead: ContinuousClock.Instant?
        /// The greatest time of a name that was read, in milliseconds.
        var position: Int64 = 0
        /// Other nodes' purges that could not be done here yet.
        var undone: [SharedPurge] = []
        /// Purges of this node that the store does not have yet.
        var unwritten: [SharedPurge] = []

        /// Remembers a purge that has been read or done.
        ///
        /// As long as the store can't be read nothing else removes any: one that is forgotten here is at most done again.
        mutating func see(_ purge: SharedPurge, isDone: Bool) {
            seen[purge.name] = Seen(milliseconds: purge.milliseconds, isDone: isDone)
            if seen.count > PurgeJournal.maxSeen { seen = seen.filter { !$0.value.isDone } }
        }
    }

    private struct Seen {
        var milliseconds: Int64
        /// Whether it has been done here; else it is being done, or waits for the next reading.
        var isDone: Bool
    }

    private let store: ObjectStore
    private let configuration: SharedConfiguration
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let created: ContinuousClock.Instant
    private let state = Mutex(State())
    /// The file of `State.unwritten`, so that a restart loses none; nil without one.
    private let unwritten: String?
    /// Writes it.
    private let files = IOQueue<CancellationError>(
        label: "purges", maxRunning: 1, maxWaiting: 256, overloaded: CancellationError())
    /// This node's name: another one after each start.
    package let node: String

    /// A node that has not read the journal for so long does not use the tier.
    static let longestSilence = Duration.seconds(60)
    /// How far back the journal is read again each time, in milliseconds: a purge may be written later than its name says.
    static let overlap: Int64 = 120_000
    /// Most purges that wait for the store to be reachable; of more, the answers say that no other node will learn of them.
    static let maxUnwritten = 4_096
    /// Most purges that are remembered as done.
    static let maxSeen = 262_144
    /// Most purges that wait to be done here; of more, everything is purged in their place.
    static let maxUndone = 4_096

    init(
        store: ObjectStore, configuration: SharedConfiguration,
        node: String = String(UInt64.random(in: 0...UInt64.max), radix: 16), unwritten: String? = nil,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        (self.store, self.configuration, self.node) = (store, configuration, node)
        (self.unwritten, self.clock, created) = (unwritten, clock, clock())
    }

    /// Whether every purge is known that was written more than a minute ago.
    package var isCurrent: Bool {
        let now = clock()
        return state.withLock { state in state.lastRead.map { now - $0 < Self.longestSilence } ?? false }
    }

    /// Seconds since it was read; since the start if it has not been.
    var age: Double {
        let now = clock()
        return state.withLock { state in (now - (state.lastRead ?? created)) / .seconds(1) }
    }

    /// Purges that are remembered.
    var count: Int { state.withLock { $0.times.count } }

    /// The time, in milliseconds, up to which all purges have been done here: where the next start begins.
    package var position: Int64 {
        state.withLock { state in min(state.position, state.undone.map(\.milliseconds).min() ?? .max) }
    }

    // MARK: - Writing

    /// A purge of this node, now, with a name of its own. It holds here from now on.
    package func newPurge(_ target: PurgeTarget) -> SharedPurge {
        let now = store.clock.now
        return state.withLock { state in
            var purge = SharedPurge(target, node: node, milliseconds: now * 1_000)
            while state.seen[purge.name] != nil { purge.milliseconds += 1 }
            state.times.note(purge.target, at: now)
            state.see(purge, isDone: true)
            return purge
        }
    }

    /// Writes a purge for the other nodes; where that fails it is written with a later reading.
    package func write(_ purge: SharedPurge) async throws(ExchangeError) {
        do throws(ExchangeError) {
            try await put(purge)
        } catch {
            let waits = state.withLock { state in
                guard state.unwritten.count < Self.maxUnwritten else { return false }
                state.unwritten.append(purge)
                return true
            }
            guard waits else {
                throw .failed("\(error); and too many purges wait for it: this one is never written")
            }
            guard await save() else {
                throw .failed("\(error); and a restart before loses it: it can't be saved")
            }
            throw error
        }
    }

    /// Stores a purge's object. Where the store's clock shows another time than the name, so that other nodes may not look for
    /// it, once more under that time.
    private func put(_ purge: SharedPurge) async throws(ExchangeError) {
        let time = try await store.put(purge.name, [])
        guard let time, abs(time - purge.milliseconds / 1_000) > Self.maxDeviation else { return }
        try await store.put(newPurge(purge.target).name, [])
    }

    /// By how much the time in a purge's name may differ from that of its object, in seconds: less than `overlap` by far.
    private static let maxDeviation: Int64 = 10

    /// Loads the purges that the last process could not write; they are written with the first reading. Blocking.
    package func loadUnwritten() {
        guard let unwritten else { return }
        // Ignored: why it can't be read; as a rule there is none.
        let bytes = (try? FileIO.contents(of: unwritten, atMost: Self.maxFileBytes, isRegular: true)) ?? []
        let purges = String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap {
            SharedPurge(name: String($0))
        }
        state.withLock { state in
            for purge in purges { state.times.note(purge.target, at: purge.milliseconds / 1_000) }
            state.unwritten = purges + state.unwritten
        }
    }

    /// Has the next process write what this one can't; false where that is not certain.
    private func save() async -> Bool {
        guard let unwritten else { return true }
        do throws(CancellationError) {
            return try await files.run { [self] () throws(CancellationError) in
                // One after the other, so that the last one saves all.
                let names = state.withLock { $0.unwritten.map { $0.name + "\n" } }
                return FileIO.replace(unwritten, by: Array(names.joined().utf8)) == 0
            }
        } catch {
            return false
        }
    }

    /// As many names as can wait, each of the longest.
    private static let maxFileBytes = ByteCount(maxUnwritten * 1_025)

    /// What is known of a purge that another node reports.
    package enum Message: Sendable {
        /// It is to be done, also where it is being done: twice does no harm.
        case new
        /// It has been done.
        case known
        /// Its time is far from the store's: a repetition, or of a node whose clock can't be relied on.
        case outOfTime
    }

    /// Notes a purge that another node has reported; `didPerform` says when it has been done.
    package func note(_ purge: SharedPurge) -> Message {
        let now = store.clock.now
        guard abs(purge.milliseconds / 1_000 - now) <= Self.longestDelay else { return .outOfTime }
        return state.withLock { state in
            guard state.seen[purge.name]?.isDone != true else { return .known }
            state.times.note(purge.target, at: max(now, purge.milliseconds / 1_000))
            return .new
        }
    }

    /// Notes that another node's purge has been done here. Until then each message of it is new, and so is its object.
    package func didPerform(_ purge: SharedPurge) {
        state.withLock { state in
            state.see(purge, isDone: true)
            state.undone.removeAll { $0 == purge }
        }
    }

    /// A message about a purge is not done after this time, in seconds.
    static let longestDelay: Int64 = 600

    // MARK: - Reading

    /// Reads what is new; returns it in the order of its times, without this node's own.
    ///
    /// - Parameter start: the time from which on purges are new to this node, in milliseconds; those from before are noted
    ///   all the same.
    package func read(from start: Int64) async throws(ExchangeError) -> [SharedPurge] {
        let begun = clock()
        // Its clock decides where to begin: an object that never exists, since only the `Date` of the answer matters.
        if !store.clock.isKnown { _ = try await store.get(ObjectName.journal + "clock", atMost: 1_024) }
        await writeAgain()
        let isFirst = state.withLock { $0.lastRead == nil }
        // The first time all that could concern an object of the bucket.
        let oldest = (store.clock.now - Int64(configuration.maxAge.seconds)) * 1_000
        let position = state.withLock { $0.position }
        let first = SharedPurge(
            .everything, node: "0", milliseconds: max(0, isFirst ? oldest : position - Self.overlap))
        var listed: [(purge: SharedPurge, storedAt: Int64)] = []
        try await store.listAll(ObjectName.journal, after: first.name) { objects in
            for object in objects {
                if let purge = SharedPurge(name: object.name) { listed.append((purge, object.storedAt)) }
            }
        }
        // Only once all pages are there: what a reading that broke off has seen must not count as known.
        let found = listed.filter { take($0.purge, storedAt: $0.storedAt) && $0.purge.milliseconds >= start }
        let horizon = store.clock.now * 1_000 - 2 * Self.overlap
        return state.withLock { state in
            state.lastRead = begun
            state.seen = state.seen.filter {
                $0.value.milliseconds >= min(horizon, state.position - 2 * Self.overlap)
            }
            defer { state.undone = [] }
            return state.undone + found.map(\.purge)
        }
    }

    /// Stores a purge that could not be done here until the next reading.
    ///
    /// Too many become one purge of everything, at the earliest of their times: then more is purged, never less.
    func postpone(undone purge: SharedPurge) {
        state.withLock { state in
            state.undone.append(purge)
            guard state.undone.count > Self.maxUndone else { return }
            let earliest = state.undone.map(\.milliseconds).min() ?? purge.milliseconds
            state.undone = [SharedPurge(.everything, node: purge.node, milliseconds: earliest)]
        }
    }

    /// Records a purge that the journal lists.
    /// - Returns: whether it is another node's, and new here.
    private func take(_ purge: SharedPurge, storedAt: Int64) -> Bool {
        state.withLock { state in
            // A time far ahead would hide all that comes after it.
            let now = store.clock.now * 1_000
            state.position = max(state.position, min(purge.milliseconds, now))
            state.times.note(purge.target, at: storedAt)
            guard purge.node != node, state.seen[purge.name] == nil else { return false }
            state.see(purge, isDone: false)
            return true
        }
    }

    /// Writes the purges that the store did not take before.
    private func writeAgain() async {
        let waiting = state.withLock { $0.unwritten }
        guard !waiting.isEmpty else { return }
        for purge in waiting {
            // With the present time in its name, where others look for it. Ignored: why it fails; it goes on to wait, with those
            // behind it.
            guard (try? await put(newPurge(purge.target))) != nil else { break }
            state.withLock { state in state.unwritten.removeAll { $0 == purge } }
        }
        // Ignored: that it could not be saved; then the next start writes some again.
        _ = await save()
    }

    // MARK: - Deciding

    /// Whether something of a picture is from before a purge that concerns it.
    ///
    /// - Parameter time: when it was fetched or made, by the store's clock.
    func isPurged(_ subject: SharedSubject, tags: [String], madeAt time: Int64) -> Bool {
        state.withLock { $0.times.isPurged(subject, tags: tags, madeAt: time) }
    }

    /// Whether a source was purged by itself at the time of another purge or later.
    package func isPurged(_ source: CacheKey, since purge: SharedPurge) -> Bool {
        state.withLock { $0.times.isPurged(source, since: purge.milliseconds / 1_000) }
    }
}
