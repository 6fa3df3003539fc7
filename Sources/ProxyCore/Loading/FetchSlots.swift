// SPDX-License-Identifier: Apache-2.0

/// The slots of running fetches: so many in all, per origin, and per rule that has a bound of its own; of those in all and
/// of those of an origin one client gets a share at most. Pure.
struct FetchSlots {
    /// A client's fetches from one origin.
    private struct Pair: Hashable {
        let client: ClientID?
        let origin: SourceURL.Origin
    }

    private var most: Int
    private var mostPerOrigin: Int
    private var clientShare: Double
    private var perOrigin: [SourceURL.Origin: Int] = [:]
    private var perRule: [OriginRule: Int] = [:]
    private var perClient: [ClientID?: Int] = [:]
    private var perPair: [Pair: Int] = [:]

    /// Those that are taken.
    private(set) var taken = 0

    /// All free, as many as the configuration says.
    init(configuration: FetchConfiguration) {
        most = max(1, configuration.maxConcurrent)
        mostPerOrigin = max(1, configuration.maxPerHost)
        clientShare = configuration.clientShare
    }

    /// Has other numbers of them; those that are taken beyond stay so until they are given back.
    mutating func adopt(_ configuration: FetchConfiguration) {
        most = max(1, configuration.maxConcurrent)
        mostPerOrigin = max(1, configuration.maxPerHost)
        clientShare = configuration.clientShare
    }

    /// Whether any is free.
    var hasRoom: Bool { taken < most }

    /// Whether all are free that a fetch needs.
    func hasRoom(for place: FetchTicket.Place) -> Bool {
        hasRoom(for: place.client) && hasRoom(for: place.origin, and: place.client)
            && hasRoom(for: place.rule)
    }

    /// Whether a client may have one more, wherever that is.
    func hasRoom(for client: ClientID?) -> Bool {
        hasRoom && (client == nil || held(by: client) < share(of: most))
    }

    /// Whether one is free at an origin for a client, whatever rules say.
    func hasRoom(for origin: SourceURL.Origin, and client: ClientID?) -> Bool {
        guard hasRoom, perOrigin[origin, default: 0] < mostPerOrigin else { return false }
        return client == nil
            || perPair[Pair(client: client, origin: origin), default: 0] < share(of: mostPerOrigin)
    }

    /// Whether one is free for a rule, if that has a bound of its own.
    func hasRoom(for rule: OriginRule?) -> Bool {
        guard let rule, let most = rule.maxConcurrent else { return true }
        return perRule[rule, default: 0] < most
    }

    /// Those that a client has.
    func held(by client: ClientID?) -> Int { perClient[client, default: 0] }

    /// Takes those of a fetch.
    mutating func take(_ place: FetchTicket.Place) {
        taken += 1
        perOrigin[place.origin, default: 0] += 1
        perClient[place.client, default: 0] += 1
        perPair[Pair(client: place.client, origin: place.origin), default: 0] += 1
        if let rule = place.rule { perRule[rule, default: 0] += 1 }
    }

    /// Takes those of a fetch back.
    mutating func giveBack(_ place: FetchTicket.Place) {
        taken -= 1
        Self.decrease(&perOrigin, place.origin)
        Self.decrease(&perClient, place.client)
        Self.decrease(&perPair, Pair(client: place.client, origin: place.origin))
        if let rule = place.rule { Self.decrease(&perRule, rule) }
    }

    /// How many of `count` slots one client may have: less than all, where there are two.
    private func share(of count: Int) -> Int {
        guard clientShare < 1 else { return count }
        return max(1, min(count - 1, Int((Double(count) * clientShare).rounded(.up))))
    }

    private static func decrease<Key>(_ counts: inout [Key: Int], _ key: Key) {
        let count = counts[key, default: 0] - 1
        if count > 0 { counts.updateValue(count, forKey: key) } else { counts.removeValue(forKey: key) }
    }
}
