// SPDX-License-Identifier: Apache-2.0

import Primitives
import Synchronization

/// The purges of all nodes: objects of the bucket, read in the order of their times. Safe from any task.
///
/// Times are the store's, so that a wrong clock of a node delays nothing and brings nothing back. A node knows every purge
/// that was written more than `journalInterval` ago, or does not use the tier.
package final class PurgeJournal: Sendable {
    private struct State {
        var times = PurgeTimes()
        /// Names that have been read, of the last minutes; those of `overlap` at most.
        var seen: [String: Int64] = [:]
        /// When the journal was read to its end.
        var lastRead: ContinuousClock.Instant?
        /// The greatest time of a name that was read, in milliseconds.
        var mark: Int64 = 0
        /// Purges of this node that the store does not have yet.
        var unwritten: [SharedPurge] = []
    }

    private let store: ObjectStore
    private let configuration: SharedConfiguration
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())
    /// This node's name: another one after each start.
    package let node: String

    /// A node that has not read the journal for so long does not use the tier.
    static let longestSilence = Duration.seconds(60)
    /// How far back the journal is read again each time, in milliseconds: a purge may be written later than its name says.
    static let overlap: Int64 = 120_000
    /// A picture counts as stored before a purge within this time: the store's clock has whole seconds. Seconds.
    static let margin: Int64 = 2
    /// Most purges that wait for the store to be reachable.
    static let maxUnwritten = 4_096

    init(
        store: ObjectStore, configuration: SharedConfiguration,
        node: String = String(UInt64.random(in: 0...UInt64.max), radix: 16),
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        (self.store, self.configuration, self.node, self.clock) = (store, configuration, node, clock)
    }

    /// Whether every purge is known that was written more than a minute ago.
    package var isCurrent: Bool {
        let now = clock()
        return state.withLock { state in state.lastRead.map { now - $0 < Self.longestSilence } ?? false }
    }

    /// Seconds since it was read; nil if it has not been.
    var age: Double? {
        let now = clock()
        return state.withLock { state in state.lastRead.map { (now - $0) / .seconds(1) } }
    }

    /// Purges that are remembered.
    var count: Int { state.withLock { $0.times.count } }

    /// The greatest time that was read, in milliseconds: where the next start begins.
    package var mark: Int64 { state.withLock { $0.mark } }

    // MARK: - Writing

    /// A purge of this node, now. It holds here from now on.
    package func begin(_ target: SharedPurge.Target) -> SharedPurge {
        let now = store.clock.now
        let purge = SharedPurge(target, node: node, milliseconds: now * 1_000)
        state.withLock { state in
            state.times.note(purge.target, at: now)
            state.seen[purge.name] = purge.milliseconds
        }
        return purge
    }

    /// Writes a purge for the other nodes; where that fails it is written with a later reading.
    package func write(_ purge: SharedPurge) async throws(ObjectStoreError) {
        do throws(ObjectStoreError) {
            try await store.put(purge.name, [])
        } catch {
            state.withLock { state in
                if state.unwritten.count < Self.maxUnwritten { state.unwritten.append(purge) }
            }
            throw error
        }
    }

    /// Notes a purge that another node has told of; false if it is known, or no purge of these minutes.
    package func note(_ purge: SharedPurge) -> Bool {
        let now = store.clock.now
        guard abs(purge.milliseconds / 1_000 - now) <= Self.overlap / 1_000 * 5 else { return false }
        return state.withLock { state in
            guard state.seen[purge.name] == nil else { return false }
            state.seen[purge.name] = purge.milliseconds
            state.times.note(purge.target, at: max(now, purge.milliseconds / 1_000))
            return true
        }
    }

    // MARK: - Reading

    /// Reads what is new; returns it in the order of its times, without this node's own.
    ///
    /// - Parameter start: the time from which on purges are new to this node, in milliseconds; those from before are noted
    ///   all the same.
    package func read(from start: Int64) async throws(ObjectStoreError) -> [SharedPurge] {
        let begun = clock()
        // Its clock decides where to begin.
        if !store.clock.isKnown { _ = try await store.get(ObjectName.journal + "clock", atMost: 1_024) }
        await writeAgain()
        let isFirst = state.withLock { $0.lastRead == nil }
        // The first time all that could concern an object of the bucket.
        let oldest = (store.clock.now - Int64(configuration.maxAge.seconds)) * 1_000
        let mark = state.withLock { $0.mark }
        var last: String? = SharedPurge(
            .everything, node: "0", milliseconds: max(0, isFirst ? oldest : mark - Self.overlap)
        ).name
        var found: [SharedPurge] = []
        while true {
            let (objects, isCut) = try await store.list(ObjectName.journal, after: last)
            for object in objects {
                guard let purge = SharedPurge(name: object.name) else { continue }
                if take(purge, storedAt: object.storedAt), purge.milliseconds >= start { found.append(purge) }
            }
            guard isCut, let end = objects.last?.name else { break }
            last = end
        }
        let horizon = store.clock.now * 1_000 - 2 * Self.overlap
        state.withLock { state in
            state.lastRead = begun
            state.seen = state.seen.filter { $0.value >= min(horizon, state.mark - 2 * Self.overlap) }
        }
        return found
    }

    /// Whether a purge is new.
    private func take(_ purge: SharedPurge, storedAt: Int64) -> Bool {
        state.withLock { state in
            // A time far ahead would hide all that comes after it.
            let now = store.clock.now * 1_000
            state.mark = max(state.mark, min(purge.milliseconds, now))
            state.times.note(purge.target, at: storedAt)
            guard purge.node != node, state.seen[purge.name] == nil else { return false }
            state.seen[purge.name] = purge.milliseconds
            return true
        }
    }

    private func writeAgain() async {
        let waiting = state.withLock { state in
            defer { state.unwritten = [] }
            return state.unwritten
        }
        for purge in waiting {
            // Lost: why; it waits again.
            try? await write(purge)
        }
    }

    // MARK: - Deciding

    /// Whether something of a picture may be used, as far as purges decide that.
    ///
    /// - Parameter time: when it was fetched or made, by the store's clock.
    func admits(_ subject: SharedSubject, tags: [String], madeAt time: Int64) -> Bool {
        let last = state.withLock { state in
            state.times.last(
                source: subject.source, result: subject.result, url: subject.url, tags: subject.tags + tags)
        }
        return last == .min || time > last + Self.margin
    }
}
