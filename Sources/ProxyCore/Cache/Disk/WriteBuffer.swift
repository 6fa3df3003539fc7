// SPDX-License-Identifier: Apache-2.0

import Bodies
import Freshness
import Synchronization

/// An entry whose body is in memory, and has yet to be written.
struct PendingWrite: Sendable {
    let description: EntryDescription
    let body: [UInt8]
    /// The body's CRC32C.
    let checksum: UInt32
    /// The record of the source: stored beside the body; nil if a later one is known.
    var record: SourceRecord?

    var id: EntryID { EntryID(kind: description.kind, key: description.key) }
}

/// Small bodies that are found before their files are written. Safe from any thread.
///
/// As many as jobs may wait for the writer, and bounded in bytes. A purge voids their tokens, and from then
/// on they are not found.
final class WriteBuffer: Sendable {
    /// Identifies one pending write among those of the same entry.
    struct Ticket: Sendable {
        fileprivate let id: EntryID
        fileprivate let number: UInt64
        fileprivate let bytes: Int
    }

    private struct Item {
        let number: UInt64
        let write: PendingWrite
        let token: PurgeToken?
    }

    private struct State {
        var last: UInt64 = 0
        var items: [EntryID: Item] = [:]
        /// Of all bodies that wait, including those that another one has replaced.
        var bytes = 0
    }

    private let maxBytes: Int
    private let state = Mutex(State())
    /// Avoids the lock on the hot path.
    private let count = Atomic(0)

    /// - Parameter maxBytes: most bytes of bodies with their texts.
    init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    /// Whether there are none.
    var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    /// Adds a write in place of an earlier one of the same entry; nil if too many bytes wait.
    func insert(_ write: PendingWrite, _ token: PurgeToken?) -> Ticket? {
        let bytes = write.body.count + write.description.keyText.utf8.count + (write.record?.textBytes ?? 0)
        return state.withLock { state in
            guard state.bytes + bytes <= maxBytes else { return nil }
            state.bytes += bytes
            state.last += 1
            state.items[write.id] = Item(number: state.last, write: write, token: token)
            count.store(state.items.count, ordering: .releasing)
            return Ticket(id: write.id, number: state.last, bytes: bytes)
        }
    }

    /// Removes a write, unless another one has replaced it.
    func remove(_ ticket: Ticket) {
        state.withLock { state in
            state.bytes -= ticket.bytes
            guard state.items[ticket.id]?.number == ticket.number else { return }
            state.items[ticket.id] = nil
            count.store(state.items.count, ordering: .releasing)
        }
    }

    /// Hot path: whether there is one for the entry.
    func contains(_ id: EntryID) -> Bool {
        !isEmpty && state.withLock { $0.items[id] != nil }
    }

    /// Hot path: the entry as its file will have it; nil if none waits, or what waits was purged.
    func hit(_ id: EntryID, _ keyText: String) -> DiskHit? {
        guard !isEmpty, let item = state.withLock({ $0.items[id] }), item.token?.isValidForBody ?? true,
            item.write.description.keyText == keyText
        else { return nil }
        let write = item.write
        return DiskHit(
            description: write.description, body: .bytes(write.body), checksum: write.checksum,
            record: item.token?.isValid ?? true ? write.record : nil)
    }
}
