// SPDX-License-Identifier: Apache-2.0

import Freshness
import Primitives

/// The records that were stored last, so that work in progress learns of them. Pure.
///
/// Bounded by count, each item within 3 KiB: records are stored without the source's text, which the key
/// stands for. For a source that was dropped the answer is `unknown`.
struct LatestRecords: Sendable {
    /// A record, and when it came: an object, since it is passed on often, and a record is large.
    final class Item: Sendable {
        /// The record without the source's text.
        let record: SourceRecord
        let receivedAt: ContinuousClock.Instant
        /// The number of this event.
        let number: UInt64

        init(record: SourceRecord, receivedAt: ContinuousClock.Instant, number: UInt64) {
            var record = record
            record.keyText = ""
            self.record = record
            self.receivedAt = receivedAt
            self.number = number
        }

        /// Whether the origin made it before another one, or it came first (RFC 9111 §4).
        fileprivate func isOlder(than other: Item) -> Bool {
            (record.generationTime, receivedAt) < (other.record.generationTime, other.receivedAt)
        }
    }

    /// What has come since some event.
    enum Change {
        /// Nothing.
        case none
        /// This record, without the source's text.
        case record(SourceRecord)
        /// It has been dropped.
        case unknown
    }

    private var items = EventTable<Item>()

    /// Stores a record in place of an earlier one; false, and nothing changed, if a later one has come since
    /// `number`.
    mutating func replace(with item: Item, since number: UInt64, capacity: Int) -> Bool {
        let key = item.record.key
        if let known = items[key], known.number > number, item.isOlder(than: known) { return false }
        items.set(item, for: key, at: item.number, capacity: capacity)
        return true
    }

    /// What has come of a source since an event.
    func change(of source: CacheKey, since number: UInt64) -> Change {
        if let item = items[source] { return item.number > number ? .record(item.record) : .none }
        return items.lastDropped > number ? .unknown : .none
    }

    /// Whether this is the latest record of its source, except for equal ones.
    func isLatest(_ item: Item) -> Bool {
        guard let known = items[item.record.key] else { return false }
        return known === item || known.record == item.record
    }

    /// Whether no record of other content has come of its source since this one.
    func isContentLatest(_ item: Item) -> Bool {
        items[item.record.key]?.record.contentHash == item.record.contentHash
    }

    /// Removes what has been purged.
    mutating func forget(_ key: CacheKey) { items.remove(key) }

    /// Removes everything, because it has been purged.
    mutating func forgetAll() { items.removeAll() }
}
