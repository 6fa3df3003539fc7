// SPDX-License-Identifier: Apache-2.0

import Origins
import Primitives
import URLs

/// The waiting fetches of one priority and one client: a queue for each origin; the origins take turns.
///
/// Pure. Taking or removing a fetch costs O(origins waiting + queue).
struct ClientQueue {
    private struct Entry {
        let id: UInt64
        let rule: OriginRule?
    }

    private var lines: [SourceURL.Origin: [Entry]] = [:]
    /// The origins with a queue; the first was served longest ago.
    private var turns: [SourceURL.Origin] = []

    /// The number of waiting fetches.
    private(set) var count = 0

    /// Returns the number of fetches that wait for `origin`.
    func count(for origin: SourceURL.Origin) -> Int { lines[origin]?.count ?? 0 }

    /// Appends a fetch to its origin's queue.
    mutating func append(_ ticket: FetchTicket) {
        let origin = ticket.place.origin
        if lines[origin] == nil { turns.append(origin) }
        lines[origin, default: []].append(Entry(id: ticket.id, rule: ticket.place.rule))
        count += 1
    }

    /// Removes the next fetch that has free slots, and returns its id; origins take turns.
    ///
    /// Skips an origin without free slots without a search in its queue.
    /// - Parameter newestFirst: whether a queue is served from its end.
    mutating func takeNext(
        newestFirst: Bool, by slots: FetchSlots, for client: ClientID?
    ) -> UInt64? {
        for (turn, origin) in turns.enumerated() where slots.hasCapacity(for: origin, and: client) {
            let line = lines[origin] ?? []
            let index =
                newestFirst
                ? line.lastIndex { slots.hasCapacity(for: $0.rule, and: client) }
                : line.firstIndex { slots.hasCapacity(for: $0.rule, and: client) }
            guard let index else { continue }
            turns.remove(at: turn)
            turns.append(origin)
            return remove(at: index, of: origin)
        }
        return nil
    }

    /// Removes a fetch, and returns its id; nil if it is not here.
    mutating func remove(_ id: UInt64, of origin: SourceURL.Origin) -> UInt64? {
        guard let index = lines[origin]?.firstIndex(where: { $0.id == id }) else { return nil }
        return remove(at: index, of: origin)
    }

    /// The fetch that would be served last in the longest of the origins' queues that has one which may go; nil if none
    /// has.
    /// - Parameters:
    ///   - newestFirst: whether a queue is served from its end.
    ///   - length: only longer queues count.
    ///   - mayGo: decides on a fetch's id.
    func last(newestFirst: Bool, longerThan length: Int, where mayGo: (UInt64) -> Bool) -> UInt64? {
        let candidates = turns.compactMap { lines[$0] }.filter { $0.count > length }
        for line in candidates.sorted(by: { $0.count > $1.count }) {
            let entry = newestFirst ? line.first { mayGo($0.id) } : line.last { mayGo($0.id) }
            if let entry { return entry.id }
        }
        return nil
    }

    private mutating func remove(at index: Int, of origin: SourceURL.Origin) -> UInt64? {
        guard let entry = lines[origin]?.remove(at: index) else { return nil }
        count -= 1
        if lines[origin]?.isEmpty == true {
            lines[origin] = nil
            turns.removeAll { $0 == origin }
        }
        return entry.id
    }
}
