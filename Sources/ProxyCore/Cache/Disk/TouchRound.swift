// SPDX-License-Identifier: Apache-2.0

/// Accesses on their way to the index: those that were collected once, in the order in which the index keeps its keys, so
/// that neighbours are written together and a page is read once. Pure.
struct TouchRound: Sendable {
    /// From the last to the first: they are taken from the end.
    private var rest: [(id: EntryID, time: Int64)]

    /// Sorts what was collected; O(n log n).
    init(_ times: [EntryID: Int64]) {
        rest = times.map { (id: $0.key, time: $0.value) }
        rest.sort { Self.isBefore($1.id, $0.id) }
    }

    /// Whether all have been taken.
    var isEmpty: Bool { rest.isEmpty }

    /// Takes the next ones out, at most `limit`.
    mutating func next(_ limit: Int) -> [IndexChange] {
        let some = rest.suffix(limit).reversed().map { IndexChange.touch($0.id, at: $0.time) }
        rest.removeLast(some.count)
        return some
    }

    /// When an entry was served whose access has yet to be taken; nil for any other. O(log n).
    func time(of id: EntryID) -> Int64? {
        var (low, high) = (0, rest.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.isBefore(id, rest[middle].id) { low = middle + 1 } else { high = middle }
        }
        return low < rest.count && rest[low].id == id ? rest[low].time : nil
    }

    /// The order of the index `entryByKey`: by the low half as a signed number, the high one, the kind.
    private static func isBefore(_ one: EntryID, _ other: EntryID) -> Bool {
        (one.key.lowBits, one.key.highBits, one.kind.rawValue)
            < (other.key.lowBits, other.key.highBits, other.kind.rawValue)
    }
}
