// SPDX-License-Identifier: Apache-2.0

import Bodies
import Freshness
import Synchronization

/// An entry whose body is in memory, and has yet to be written.
final class PendingWrite: Sendable {
    let description: EntryDescription
    let body: [UInt8]
    /// The body's CRC32C.
    let checksum: UInt32
    /// The record of the source: stored beside the body.
    let record: SourceRecord?
    /// If it is void for the body, nothing is written; if only for the record, a later one is known.
    let token: PurgeToken?

    init(
        _ description: EntryDescription, body: [UInt8], checksum: UInt32, record: SourceRecord?,
        token: PurgeToken?
    ) {
        (self.description, self.body, self.checksum) = (description, body, checksum)
        (self.record, self.token) = (record, token)
    }

    var id: EntryID { EntryID(kind: description.kind, key: description.key) }
    /// The record unless a later one is known.
    var latestRecord: SourceRecord? { token?.isValid ?? true ? record : nil }
    fileprivate var byteCount: Int {
        body.count + description.keyText.utf8.count + (record?.textBytes ?? 0)
    }
}

/// Small bodies that are found before their files are written. Safe from any thread.
///
/// As many as jobs may wait for the writer, and bounded in bytes. A purge voids their tokens, and from then
/// on they are not found.
final class WriteBuffer: Sendable {
    private struct State {
        var writes: [EntryID: PendingWrite] = [:]
        /// Of all bodies that wait, including those that another one has replaced.
        var bytes = 0
    }

    private let maxBytes: Int
    private let state = Mutex(State())
    /// Avoids the lock on the hot path.
    private let hasAny = Atomic(false)

    /// - Parameter maxBytes: most bytes of bodies with their texts.
    init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    /// Whether there are none.
    var isEmpty: Bool { !hasAny.load(ordering: .acquiring) }

    /// Adds a write in place of an earlier one of the same entry; false if too many bytes wait.
    func insert(_ write: PendingWrite) -> Bool {
        state.withLock { state in
            guard state.bytes + write.byteCount <= maxBytes else { return false }
            state.bytes += write.byteCount
            state.writes[write.id] = write
            hasAny.store(true, ordering: .releasing)
            return true
        }
    }

    /// Removes a write, unless another one has replaced it.
    func remove(_ write: PendingWrite) {
        state.withLock { state in
            state.bytes -= write.byteCount
            if state.writes[write.id] === write { state.writes[write.id] = nil }
            hasAny.store(!state.writes.isEmpty, ordering: .releasing)
        }
    }

    /// Hot path: whether there is one for the entry.
    func contains(_ id: EntryID) -> Bool {
        !isEmpty && state.withLock { $0.writes[id] != nil }
    }

    /// Hot path: the entry as its file will have it; nil if none waits, or what waits was purged.
    func hit(_ id: EntryID, _ keyText: String) -> DiskHit? {
        guard !isEmpty, let write = state.withLock({ $0.writes[id] }), write.token?.isValidForBody ?? true,
            write.description.keyText == keyText
        else { return nil }
        return DiskHit(
            description: write.description, body: .bytes(write.body), record: write.latestRecord)
    }
}
