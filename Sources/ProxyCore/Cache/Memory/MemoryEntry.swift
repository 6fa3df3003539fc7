// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One picture in memory: its bytes, what they are, and how fresh their source is.
///
/// Never changes, so it may be answered from while the cache drops or replaces it; a revalidation puts a new entry with the
/// same bytes in its place. Only the two marks at its end move, atomically.
public final class MemoryEntry: Sendable {
    /// What the entry says of its bytes.
    public let description: EntryDescription
    /// The bytes.
    public let body: [UInt8]
    /// The source's record when the entry was stored or last refreshed.
    public let record: SourceRecord
    /// What it counts against the tier's bound, in bytes.
    public let cost: Int
    /// Unique in this process: what was prepared for one entry (a response's head, say) belongs to no other.
    public let id: UInt64

    private let isBeingRefreshed = Atomic(false)
    private let lastTouch: Atomic<Int64>

    private static let lastID = Atomic<UInt64>(0)
    /// What an entry costs beside its body and text: the objects, the slot, both tables' rows; in bytes.
    private static let overhead = 640

    /// Wraps a body that is complete.
    public convenience init(description: EntryDescription, body: [UInt8], record: SourceRecord) {
        self.init(description: description, body: body, record: record, lastTouch: description.storedAt)
    }

    private init(description: EntryDescription, body: [UInt8], record: SourceRecord, lastTouch: Int64) {
        self.description = description
        self.body = body
        self.record = record
        self.lastTouch = Atomic(lastTouch)
        cost = body.count + description.keyText.utf8.count + record.keyText.utf8.count + Self.overhead
        id = Self.lastID.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// The same bytes with a newer record; they are shared, not copied.
    func refreshed(with record: SourceRecord) -> MemoryEntry {
        MemoryEntry(
            description: description, body: body, record: record,
            lastTouch: lastTouch.load(ordering: .relaxed))
    }

    /// Elects one caller to refresh a stale entry: true for the first only, until `endRefresh`.
    public func beginRefresh() -> Bool {
        !isBeingRefreshed.exchange(true, ordering: .relaxed)
    }

    /// Lets another caller try to refresh the entry, because the first one failed.
    public func endRefresh() {
        isBeingRefreshed.store(false, ordering: .relaxed)
    }

    /// Hot path: whether the disk tier should hear that the entry was served; true once per `interval` seconds.
    public func shouldTouch(at now: Int64, every interval: Int64) -> Bool {
        let last = lastTouch.load(ordering: .relaxed)
        guard now - last >= interval else { return false }
        return lastTouch.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
    }
}
