// SPDX-License-Identifier: Apache-2.0

import Primitives
import Synchronization

/// The entries that the disk tier may contain: at most 16 bytes each, so that a miss costs no system call.
///
/// Split into parts with a lock each, which also grow one by one, so that no growth is a pause. Until
/// everything on disk has been added, it answers "may contain" for every entry: correct, at the price of an
/// open(2). Safe from any thread.
final class EntrySet: Sendable {
    private final class Part: Sendable {
        let table = Mutex(FingerprintTable())
    }

    private let parts: [Part]
    private let complete = Atomic(false)

    /// The bits of the key that choose a part are not in the fingerprint.
    private static let partCount = 256

    /// Creates an empty set that is not complete.
    init() {
        parts = (0..<Self.partCount).map { _ in Part() }
    }

    /// Hot path: whether the entry may be on disk; "no" is certain.
    func mayContain(_ id: EntryID) -> Bool {
        guard complete.load(ordering: .acquiring) else { return true }
        return part(of: id).table.withLock { $0.contains(id.fingerprint) }
    }

    /// Adds an entry.
    func insert(_ id: EntryID) {
        _ = part(of: id).table.withLock { $0.insert(id.fingerprint) }
    }

    /// Removes an entry.
    func remove(_ id: EntryID) {
        _ = part(of: id).table.withLock { $0.remove(id.fingerprint) }
    }

    /// Whether the entry has been added; unlike `mayContain`, independent of whether the set is complete.
    func hasSeen(_ id: EntryID) -> Bool {
        part(of: id).table.withLock { $0.contains(id.fingerprint) }
    }

    /// Removes every entry.
    func removeAll() {
        for part in parts { part.table.withLock { $0 = FingerprintTable() } }
    }

    /// Declares that everything on disk has been added.
    func markComplete() {
        complete.store(true, ordering: .releasing)
    }

    /// Declares that there may be entries on disk that have not been added.
    func markIncomplete() {
        complete.store(false, ordering: .releasing)
    }

    /// Whether everything on disk has been added.
    var isComplete: Bool { complete.load(ordering: .acquiring) }

    /// The memory the tables take, in bytes.
    var byteCount: Int { parts.reduce(0) { $0 + $1.table.withLock(\.byteCount) } }

    private func part(of id: EntryID) -> Part {
        parts[Int(truncatingIfNeeded: id.key.high) & (Self.partCount - 1)]
    }
}
