// SPDX-License-Identifier: Apache-2.0

import Primitives
import URLs

/// The waiting fetches of one priority and one client: a queue for each origin; the origins take turns.
///
/// Pure. Taking or removing a fetch costs O(origins waiting + queue).
struct ClientQueue {
    private var lines: [SourceURL.Origin: [FetchTicket]] = [:]
    /// The origins with a queue; the first was served longest ago.
    private var turns: [SourceURL.Origin] = []

    /// The number of waiting fetches.
    private(set) var count = 0

    /// The origin with the longest queue, and the queue's length.
    var longest: (origin: SourceURL.Origin, count: Int)? {
        turns.map { ($0, lines[$0]?.count ?? 0) }.max { $0.1 < $1.1 }
    }

    /// Returns the number of fetches that wait for `origin`.
    func count(for origin: SourceURL.Origin) -> Int { lines[origin]?.count ?? 0 }

    /// Appends a fetch to its origin's queue.
    mutating func append(_ ticket: FetchTicket) {
        let origin = ticket.place.origin
        if lines[origin] == nil { turns.append(origin) }
        lines[origin, default: []].append(ticket)
        count += 1
    }

    /// Removes and returns the next fetch that has free slots; origins take turns.
    ///
    /// Skips an origin without free slots without a search in its queue.
    /// - Parameter newestFirst: whether a queue is served from its end.
    mutating func takeNext(
        newestFirst: Bool, by slots: FetchSlots, for client: ClientID?
    ) -> FetchTicket? {
        for (turn, origin) in turns.enumerated() where slots.hasCapacity(for: origin, and: client) {
            let line = lines[origin] ?? []
            let index =
                newestFirst
                ? line.lastIndex { slots.hasCapacity(for: $0.place.rule) }
                : line.firstIndex { slots.hasCapacity(for: $0.place.rule) }
            guard let index else { continue }
            turns.remove(at: turn)
            turns.append(origin)
            return remove(at: index, of: origin)
        }
        return nil
    }

    /// Removes a fetch; nil if it is not here.
    mutating func remove(_ id: UInt64, of origin: SourceURL.Origin) -> FetchTicket? {
        guard let index = lines[origin]?.firstIndex(where: { $0.id == id }) else { return nil }
        return remove(at: index, of: origin)
    }

    /// Removes the fetch that would be served last in an origin's queue.
    mutating func removeLast(of origin: SourceURL.Origin, newestFirst: Bool) -> FetchTicket? {
        guard let line = lines[origin] else { return nil }
        return remove(at: newestFirst ? 0 : line.count - 1, of: origin)
    }

    private mutating func remove(at index: Int, of origin: SourceURL.Origin) -> FetchTicket? {
        guard let ticket = lines[origin]?.remove(at: index) else { return nil }
        count -= 1
        if lines[origin]?.isEmpty == true {
            lines[origin] = nil
            turns.removeAll { $0 == origin }
        }
        return ticket
    }
}
