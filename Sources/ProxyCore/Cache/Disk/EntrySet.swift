// SPDX-License-Identifier: Apache-2.0

import Primitives
import Synchronization

/// The entries that the disk tier may contain: at most 14 bytes each, so that a miss costs no system call.
///
/// Sets of 32 bits of the key in parts with a lock each, which also grow one by one, so that no growth is a
/// pause. Two entries of a part share their bits once in some million; when one of them is removed, the other
/// is a miss until it is stored again. Until everything on disk has been added, the answer is "may contain"
/// for every entry: correct, at the price of an open(2). Safe from any thread.
final class EntrySet: Sendable {
    /// 32 bits of an entry's key, evenly distributed as that is.
    struct Fingerprint: Hashable {
        let bits: UInt32

        // swift-format-ignore: NoLeadingUnderscores
        func _rawHashValue(seed: Int) -> Int {
            Int(
                truncatingIfNeeded: TableHash.fold(
                    UInt64(bits) ^ UInt64(truncatingIfNeeded: seed), TableHash.secret))
        }
    }

    final class Part: Sendable {
        let set = Mutex<Set<Fingerprint>>([])
    }

    let parts: [Part]
    private let complete = Atomic(false)

    /// The bits of the key that choose a part are not in the fingerprint.
    private static let partCount = 256

    /// Creates an empty set that is not complete.
    init() {
        parts = (0..<Self.partCount).map { _ in Part() }
    }

    /// Hot path: whether the entry may be on disk; "no" is certain, but for the rare pair.
    func mayContain(_ id: EntryID) -> Bool { !isComplete || contains(id) }

    /// Whether the entry has been added; unlike `mayContain`, independent of whether the set is complete.
    func contains(_ id: EntryID) -> Bool {
        part(of: id).set.withLock { $0.contains(Self.fingerprint(id)) }
    }

    /// Adds an entry.
    func insert(_ id: EntryID) {
        _ = part(of: id).set.withLock { $0.insert(Self.fingerprint(id)) }
    }

    func remove(_ id: EntryID) {
        part(of: id).set.withLock { set in
            set.remove(Self.fingerprint(id))
            // A set keeps its space; a copy takes at most half of it.
            if set.count * 5 < set.capacity * 2 { set = Set(Array(set)) }
        }
    }

    /// Removes every entry.
    func removeAll() {
        for part in parts { part.set.withLock { $0 = [] } }
    }

    /// Whether everything on disk has been added.
    var isComplete: Bool { complete.load(ordering: .acquiring) }

    /// Declares that everything on disk has been added, or that there may be entries that have not been.
    func markComplete(_ isComplete: Bool = true) { complete.store(isComplete, ordering: .releasing) }

    private func part(of id: EntryID) -> Part {
        parts[Int(truncatingIfNeeded: id.key.high) & (Self.partCount - 1)]
    }

    private static func fingerprint(_ id: EntryID) -> Fingerprint {
        Fingerprint(bits: UInt32(truncatingIfNeeded: id.fingerprint))
    }
}
