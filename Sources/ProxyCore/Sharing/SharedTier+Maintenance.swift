// SPDX-License-Identifier: Apache-2.0

import Cache
package import Primitives

/// What a node does for the tier beside requests: it learns of purges, and deletes what is past its age.
extension SharedTier {
    /// Reads the journal again and again, and has other nodes' purges done here, until the task is cancelled.
    ///
    /// - Parameters:
    ///   - start: where the last start of this node ended, in milliseconds of the store's clock.
    ///   - apply: does a purge in this node's own tiers; false where it could not.
    ///   - didRead: called after each reading with the place to begin at the next start.
    package func maintain(
        from start: Int64, apply: @escaping @Sendable (SharedPurge) async -> Bool,
        didRead: @escaping @Sendable (Result<Int64, ExchangeError>) async -> Void
    ) async {
        var start = start
        while !Task.isCancelled {
            let outcome = await readJournal(from: start, apply: apply)
            if case .success = outcome { start = 0 }
            await didRead(outcome)
            var pause = configuration.journalInterval.duration
            if case .failure = outcome { pause = min(pause, Self.pauseAfterFailure) }
            // Ignored: that the task was cancelled, which ends the loop.
            try? await timer.sleep(for: pause)
        }
    }

    /// How soon a reading that failed is tried again.
    private static let pauseAfterFailure = Duration.seconds(5)

    /// Sweeps the bucket part by part, until the task is cancelled; a part may take longer than the journal may wait.
    package func sweepContinually() async {
        guard configuration.sweepInterval.milliseconds > 0 else { return }
        // Nodes that start together do not begin with the same part.
        var part = UInt8.random(in: 0...UInt8.max)
        while !Task.isCancelled {
            // Ignored: that the task was cancelled, which ends the loop.
            try? await timer.sleep(for: configuration.sweepInterval.duration / 256)
            // Ignored: why it failed; it is counted, and another node, or the next round, sweeps that part.
            if journal.isCurrent { _ = try? await sweep(part) }
            part &+= 1
        }
    }

    /// Reads the journal once.
    /// - Parameters:
    ///   - start: purges from before this time are noted and not done, in milliseconds.
    ///   - apply: does a purge; false where it could not, and is to be called again with the next reading.
    func readJournal(
        from start: Int64, apply: @Sendable (SharedPurge) async -> Bool
    ) async -> Result<Int64, ExchangeError> {
        do throws(ExchangeError) {
            for purge in try await journal.read(from: start) {
                if case .source(let source) = purge.target { sentRecords.forget(source) }
                if await apply(purge) {
                    journal.didPerform(purge)
                } else {
                    journal.postpone(undone: purge)
                }
            }
            return .success(journal.position)
        } catch {
            return .failure(error)
        }
    }

    /// Deletes the objects of one part of the bucket that are past `shared.maxAge`, unless a node did so within
    /// `shared.sweepInterval`; returns how many.
    package func sweep(_ part: UInt8) async throws(ExchangeError) -> Int {
        let mark = ObjectName.sweepMark(part)
        if let last = try await store.get(mark, atMost: 1_024),
            last.age < Int64(configuration.sweepInterval.seconds)
        {
            return 0
        }
        try await store.put(mark, [])
        let oldest = store.clock.now - Int64(configuration.maxAge.seconds)
        var count = try await delete(ObjectName.part(part), storedBefore: oldest)
        // A purge must be remembered longer than what it concerns.
        if part == 0 {
            count += try await delete(ObjectName.journal, storedBefore: oldest - 86_400)
        }
        return count
    }

    private func delete(_ start: String, storedBefore oldest: Int64) async throws(ExchangeError) -> Int {
        var count = 0
        try await store.listAll(start) { (objects) throws(ExchangeError) in
            // The bucket may have other objects, too.
            let names = objects.filter { $0.storedAt < oldest && ObjectName.isOwn($0.name) }.map(\.name)
            try await store.delete(names)
            count += names.count
        }
        return count
    }

    /// The lifecycle rule that does what the sweep does, as AWS' tools take it.
    package static func lifecycle(_ configuration: SharedConfiguration) -> JSONValue {
        let days = max(1, (configuration.maxAge.seconds + 86_399) / 86_400)
        let rule: JSONValue = [
            "ID": .string("imageproxyd"), "Status": .string("Enabled"),
            "Filter": ["Prefix": .string(configuration.prefix)],
            // A purge must be remembered longer than what it concerns: all of it gets the longer time.
            "Expiration": ["Days": .integer(days + 1)],
            "AbortIncompleteMultipartUpload": ["DaysAfterInitiation": .integer(1)],
        ]
        return ["Rules": .array([rule])]
    }
}
