// SPDX-License-Identifier: Apache-2.0

import Bodies
package import Cache
import Freshness
package import Primitives

/// What a purge did in the store.
package struct SharedPurgeOutcome: Sendable, Hashable {
    /// Objects that were deleted.
    package var deleted = 0
    /// Why other nodes may not learn of the purge yet, or why objects remain that no node uses; nil if all is done.
    package var problem: String?
}

extension SharedTier {
    /// Begins a purge before the tiers of this node do it: from now on nothing of the store from before it is used here.
    package func begin(_ target: PurgeTarget) -> SharedPurge { journal.newPurge(target) }

    /// Ends a purge after the tiers of this node have done it: writes it for all nodes, and deletes what it can.
    ///
    /// What is not deleted is not used either: it is from before the purge.
    package func end(_ purge: SharedPurge, tagged sources: Set<CacheKey> = []) async -> SharedPurgeOutcome {
        var outcome = SharedPurgeOutcome()
        outcome.problem = await write(purge)
        do throws(ExchangeError) {
            switch purge.target {
            case .source(let source): outcome.deleted = try await delete([source])
            case .tag: outcome.deleted = try await delete(sources)
            case .everything: sentRecords.forgetAll()
            case .key, .prefix: break
            }
        } catch {
            outcome.problem =
                outcome.problem ?? "objects from before it remain in the store, unused: \(error)"
        }
        return outcome
    }

    /// Writes a purge for all nodes; returns why they may not learn of it yet, nil if they do.
    package func write(_ purge: SharedPurge) async -> String? {
        do throws(ExchangeError) {
            try await journal.write(purge)
            return nil
        } catch {
            return "other nodes do not learn of it yet: \(error)"
        }
    }

    /// Deletes the objects of sources; returns how many.
    private func delete(_ sources: Set<CacheKey>) async throws(ExchangeError) -> Int {
        var count = 0
        for source in sources {
            sentRecords.forget(source)
            let name = ObjectName.record(of: source)
            var names = [name]
            let found = try await store.get(name, atMost: PortableRecord.maxBytes)
            if let record = found.flatMap({ PortableRecord($0.content) })?.record {
                names.append(ObjectName.original(record.contentHash))
            }
            try await store.listAll(ObjectName.results(of: source)) { names += $0.map(\.name) }
            try await store.delete(names)
            count += names.count - (found == nil ? 1 : 0)
        }
        return count
    }
}
