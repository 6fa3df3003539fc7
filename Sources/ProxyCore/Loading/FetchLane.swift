// SPDX-License-Identifier: Apache-2.0

/// The waiting fetches of one priority and one client: a line for each origin, and the origins take turns.
///
/// Pure. To take or remove one costs O(origins waiting + line).
struct FetchLane {
    private var lines: [SourceURL.Origin: [FetchTicket]] = [:]
    /// The origins with a line; the first has not had its turn for the longest time.
    private var turns: [SourceURL.Origin] = []

    /// The waiting fetches.
    private(set) var count = 0

    /// The origin with the longest line, and how long that is.
    var longest: (origin: SourceURL.Origin, count: Int)? {
        turns.map { ($0, lines[$0]?.count ?? 0) }.max { $0.1 < $1.1 }
    }

    /// How many wait for `origin`.
    func count(for origin: SourceURL.Origin) -> Int { lines[origin]?.count ?? 0 }

    /// Puts one at the end of its origin's line.
    mutating func append(_ ticket: FetchTicket) {
        let origin = ticket.place.origin
        if lines[origin] == nil { turns.append(origin) }
        lines[origin, default: []].append(ticket)
        count += 1
    }

    /// Takes the next one for which slots are free, the origins in turn.
    ///
    /// An origin that has none is passed over without a look at its line, however long that is.
    /// - Parameter newestFirst: whether a line is served from its end.
    mutating func takeNext(
        newestFirst: Bool, by slots: FetchSlots, for client: ClientID?
    ) -> FetchTicket? {
        for (turn, origin) in turns.enumerated() where slots.hasRoom(for: origin, and: client) {
            let line = lines[origin] ?? []
            let index =
                newestFirst
                ? line.lastIndex { slots.hasRoom(for: $0.place.rule) }
                : line.firstIndex { slots.hasRoom(for: $0.place.rule) }
            guard let index else { continue }
            turns.remove(at: turn)
            turns.append(origin)
            return remove(at: index, of: origin)
        }
        return nil
    }

    /// Takes one out; nil when it is not here.
    mutating func remove(_ id: UInt64, of origin: SourceURL.Origin) -> FetchTicket? {
        guard let index = lines[origin]?.firstIndex(where: { $0.id == id }) else { return nil }
        return remove(at: index, of: origin)
    }

    /// Takes the one out that would have been served last of an origin's line.
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
