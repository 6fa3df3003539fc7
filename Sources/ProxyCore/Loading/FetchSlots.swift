// SPDX-License-Identifier: Apache-2.0

import Origins
import Primitives
import URLs

/// The slots of running fetches: a number in total, per origin, and per rule with its own bound. One client
/// may use only a share of the total, of an origin's slots, and of a rule's. Pure.
struct FetchSlots {
    /// The fetches that are counted together.
    private enum Group: Hashable {
        case client(ClientID?)
        case origin(SourceURL.Origin)
        case rule(OriginRule)
        case clientAndOrigin(ClientID?, SourceURL.Origin)
        case clientAndRule(ClientID?, OriginRule)
    }

    private var most = 1, mostPerOrigin = 1
    private var clientShare = 1.0
    /// The numbers of slots in use; without zeros.
    private var counts: [Group: Int] = [:]

    /// The number of slots in use.
    private(set) var taken = 0

    /// Creates the configured number of free slots.
    init(configuration: FetchConfiguration) {
        adopt(configuration)
    }

    /// Changes the numbers of slots; slots in use beyond them stay in use until they are returned.
    mutating func adopt(_ configuration: FetchConfiguration) {
        most = max(1, configuration.maxConcurrent)
        mostPerOrigin = max(1, configuration.maxPerHost)
        clientShare = configuration.clientShare
    }

    /// Whether any slot is free.
    var hasCapacity: Bool { taken < most }

    /// Whether all slots that a fetch needs are free for a client.
    func hasCapacity(for place: FetchTicket.Place, and client: ClientID?) -> Bool {
        hasCapacity(for: client) && hasCapacity(for: place.origin, and: client)
            && hasCapacity(for: place.rule, and: client)
    }

    /// The client of a fetch that may take the slots it needs, of several the one with the fewest; nil if none may.
    func client(for ticket: FetchTicket) -> ClientID?? {
        ticket.clients.filter { hasCapacity(for: ticket.place, and: $0) }
            .min { held(by: $0) < held(by: $1) }
    }

    /// Whether a client may use another slot in total.
    func hasCapacity(for client: ClientID?) -> Bool {
        hasCapacity && (client == nil || held(by: client) < share(of: most))
    }

    /// Whether an origin has a free slot for a client, without its rule's bound.
    func hasCapacity(for origin: SourceURL.Origin, and client: ClientID?) -> Bool {
        guard hasCapacity, count(.origin(origin)) < mostPerOrigin else { return false }
        return client == nil || count(.clientAndOrigin(client, origin)) < share(of: mostPerOrigin)
    }

    /// Whether a rule has a free slot for a client; true for a rule without its own bound.
    func hasCapacity(for rule: OriginRule?, and client: ClientID?) -> Bool {
        guard let rule, let most = rule.maxConcurrent else { return true }
        guard count(.rule(rule)) < most else { return false }
        return client == nil || count(.clientAndRule(client, rule)) < share(of: most)
    }

    /// Returns the number of a client's slots.
    func held(by client: ClientID?) -> Int { count(.client(client)) }

    /// Takes the slots of a fetch, which counts for a client.
    mutating func take(_ place: FetchTicket.Place, for client: ClientID?) {
        taken += 1
        for group in Self.groups(of: place, for: client) { counts[group, default: 0] += 1 }
    }

    /// Returns the slots of a fetch that counted for a client.
    mutating func giveBack(_ place: FetchTicket.Place, of client: ClientID?) {
        taken -= 1
        for group in Self.groups(of: place, for: client) {
            let count = count(group) - 1
            counts[group] = count > 0 ? count : nil
        }
    }

    private func count(_ group: Group) -> Int { counts[group, default: 0] }

    private static func groups(of place: FetchTicket.Place, for client: ClientID?) -> [Group] {
        let all: [Group] = [.client(client), .origin(place.origin), .clientAndOrigin(client, place.origin)]
        guard let rule = place.rule else { return all }
        return all + [.rule(rule), .clientAndRule(client, rule)]
    }

    /// The number of `count` slots that one client may use: less than all if there are at least two.
    private func share(of count: Int) -> Int {
        guard clientShare < 1 else { return count }
        return max(1, min(count - 1, Int((Double(count) * clientShare).rounded(.up))))
    }
}
