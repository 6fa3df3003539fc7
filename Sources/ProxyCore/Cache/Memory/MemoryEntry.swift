// SPDX-License-Identifier: Apache-2.0

package import Bodies
package import Freshness
import Synchronization

/// One picture in memory: its bytes, their description, and their source's freshness.
///
/// Immutable, so it may be sent while the cache removes or replaces it; a revalidation stores a new entry
/// with the same bytes in its place. Only the marks at its end change, atomically.
package final class MemoryEntry: Sendable {
    /// The description of the entry's bytes.
    package let description: EntryDescription
    /// The bytes, or the open file of the disk tier that has them.
    package let body: StoredBody
    /// The source's record when the entry was stored or last refreshed.
    package let record: SourceRecord
    /// What it counts towards the tier's bound, in bytes.
    package let cost: Int
    /// Unique in this process: what was prepared for one entry (a response's head, say) belongs to no other.
    package let id: UInt64

    /// The identity of the file when the entry was made; nil for bytes.
    private let identity: VerifiedFiles.Identity?
    /// Counts the bytes until the last answer from them has been sent; nil for a file.
    private let lease: MemoryLease?
    private let isBeingRefreshed = Atomic(false)
    private let survivesPowerLoss: Atomic<Bool>
    private let lastRecordedAccess: Atomic<Int64>
    private let lastImprovement = Atomic<Int64>(0)

    private static let lastID = Atomic<UInt64>(0)
    /// What an entry costs in addition to its body and text: the objects, the slot, both tables' rows; in
    /// bytes.
    private static let overhead = 896

    /// Creates an entry with a complete body, and maybe a lease for its bytes.
    package convenience init(
        description: EntryDescription, body: [UInt8], record: SourceRecord, lease: MemoryLease? = nil
    ) {
        self.init(
            description: description, body: .bytes(body), identity: nil, lease: lease, record: record,
            lastRecordedAccess: description.storedAt)
    }

    /// Creates an entry of an open file that the disk tier has just checked; nil if its inode can't be read.
    package convenience init?(description: EntryDescription, file body: StoredBody, record: SourceRecord) {
        guard case .file(let file, _, _) = body, let identity = VerifiedFiles.Identity(of: file) else {
            return nil
        }
        self.init(
            description: description, body: body, identity: identity, lease: nil, record: record,
            lastRecordedAccess: description.storedAt)
    }

    private init(
        description: EntryDescription, body: StoredBody, identity: VerifiedFiles.Identity?,
        lease: MemoryLease?, record: SourceRecord, lastRecordedAccess: Int64, isDurable: Bool = false
    ) {
        self.lease = lease
        self.description = description
        self.body = body
        self.identity = identity
        self.record = record
        self.lastRecordedAccess = Atomic(lastRecordedAccess)
        survivesPowerLoss = Atomic(isDurable)
        let bytes = identity == nil ? body.count : 0
        cost = bytes + description.keyText.utf8.count + record.textBytes + Self.overhead
        id = Self.lastID.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// The same bytes with a newer record; they are shared, not copied.
    func refreshed(with record: SourceRecord) -> MemoryEntry {
        MemoryEntry(
            description: description, body: body, identity: identity, lease: lease, record: record,
            lastRecordedAccess: lastRecordedAccess.load(ordering: .relaxed), isDurable: isDurable)
    }

    /// Whether the disk tier is known to have the bytes in a way that survives a power loss.
    package var isDurable: Bool { survivesPowerLoss.load(ordering: .acquiring) }

    /// Records that it does.
    package func markDurable() { survivesPowerLoss.store(true, ordering: .releasing) }

    /// Hot path: whether the bytes are still those that were checked: a file must not have changed, nor been
    /// removed.
    ///
    /// One fstat(2) for a file, nothing for bytes.
    package var isIntact: Bool {
        guard let identity, case .file(let file, _, _) = body else { return true }
        return VerifiedFiles.Identity(of: file) == identity
    }

    /// Whether the bytes lie in the disk tier.
    package var isOnDisk: Bool { identity != nil }

    /// Elects one caller to refresh a stale entry: true for the first only, until `endRefresh`.
    package func beginRefresh() -> Bool {
        !isBeingRefreshed.exchange(true, ordering: .relaxed)
    }

    /// Lets another caller try to refresh the entry, because the first one failed.
    package func endRefresh() {
        isBeingRefreshed.store(false, ordering: .relaxed)
    }

    /// Hot path: whether a better result is to be made in its place; true once per `interval` seconds, and
    /// never for a final one.
    package func shouldImprove(at now: Int64, every interval: Int64) -> Bool {
        guard description.stage.isImprovable else { return false }
        let last = lastImprovement.load(ordering: .relaxed)
        guard now - last >= interval else { return false }
        return lastImprovement.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
    }

    /// Hot path: whether the disk tier should be informed that the entry was served; true once per `interval`
    /// seconds.
    package func shouldRecordAccess(at now: Int64, every interval: Int64) -> Bool {
        let last = lastRecordedAccess.load(ordering: .relaxed)
        guard now - last >= interval else { return false }
        return lastRecordedAccess.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
    }
}
