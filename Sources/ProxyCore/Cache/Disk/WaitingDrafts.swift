// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Bodies that are about to be written, so that they are found before they are. Safe from any thread.
///
/// As many as jobs may wait for the writer, and no more than so many bytes. A purge voids their permits, and from then on they are not found.
final class WaitingDrafts: Sendable {
    /// Names one draft among those of the same entry.
    struct Ticket: Sendable {
        fileprivate let id: EntryID
        fileprivate let number: UInt64
        fileprivate let bytes: Int
    }

    private struct Item {
        let number: UInt64
        let draft: WriteJob.Draft
        let permit: PurgeLedger.Permit?
    }

    private struct State {
        var last: UInt64 = 0
        var items: [EntryID: Item] = [:]
        /// Of all bodies that wait, those too that another one has taken the place of.
        var bytes = 0
    }

    private let maxBytes: Int

    private let state = Mutex(State())
    /// Spares the hot path the lock.
    private let count = Atomic(0)

    /// - Parameter maxBytes: most bytes of bodies with their texts.
    init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    /// Whether there are none.
    var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    /// Shows a draft in place of an earlier one of the same entry; nil where too many bytes wait.
    func insert(_ draft: WriteJob.Draft, _ permit: PurgeLedger.Permit?) -> Ticket? {
        let id = EntryID(kind: draft.description.kind, key: draft.description.key)
        let bytes = draft.body.count + draft.description.keyText.utf8.count + (draft.record?.textBytes ?? 0)
        return state.withLock { state in
            guard state.bytes + bytes <= maxBytes else { return nil }
            state.bytes += bytes
            state.last += 1
            state.items[id] = Item(number: state.last, draft: draft, permit: permit)
            count.store(state.items.count, ordering: .releasing)
            return Ticket(id: id, number: state.last, bytes: bytes)
        }
    }

    /// Shows it no longer, unless another one has taken its place.
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

    /// Hot path: the entry as its file will say it; nil where none waits, or what waits was purged.
    func hit(_ id: EntryID, _ keyText: String) -> DiskHit? {
        guard !isEmpty, let item = state.withLock({ $0.items[id] }), item.permit?.isValidForBody ?? true,
            item.draft.description.keyText == keyText
        else { return nil }
        let draft = item.permit?.isValid ?? true ? item.draft : item.draft.withoutRecord
        return DiskHit(
            description: draft.description, body: .bytes(draft.body), checksum: draft.checksum,
            record: draft.record)
    }
}
