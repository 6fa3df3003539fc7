// SPDX-License-Identifier: Apache-2.0

/// The slots of running fetches: so many in all, per origin, and per rule that has a bound of its own. Pure.
struct FetchSlots {
    private var most: Int
    private var mostPerOrigin: Int
    private var perOrigin: [SourceURL.Origin: Int] = [:]
    private var perRule: [OriginRule: Int] = [:]

    /// Those that are taken.
    private(set) var taken = 0

    /// All free.
    init(most: Int, mostPerOrigin: Int) {
        self.most = most
        self.mostPerOrigin = mostPerOrigin
    }

    /// Has other numbers of them; those that are taken beyond stay so until they are given back.
    mutating func resize(most: Int, mostPerOrigin: Int) {
        self.most = most
        self.mostPerOrigin = mostPerOrigin
    }

    /// Whether any is free.
    var hasRoom: Bool { taken < most }

    /// Whether all are free that a fetch needs.
    func hasRoom(for place: FetchTicket.Place) -> Bool {
        hasRoom(for: place.origin) && hasRoom(for: place.rule)
    }

    /// Whether one is free for an origin, whatever rules say.
    func hasRoom(for origin: SourceURL.Origin) -> Bool {
        hasRoom && perOrigin[origin, default: 0] < mostPerOrigin
    }

    /// Whether one is free for a rule, if that has a bound of its own.
    func hasRoom(for rule: OriginRule?) -> Bool {
        guard let rule, let most = rule.maxConcurrent else { return true }
        return perRule[rule, default: 0] < most
    }

    /// Takes those of a fetch.
    mutating func take(_ place: FetchTicket.Place) {
        taken += 1
        perOrigin[place.origin, default: 0] += 1
        if let rule = place.rule { perRule[rule, default: 0] += 1 }
    }

    /// Takes those of a fetch back.
    mutating func giveBack(_ place: FetchTicket.Place) {
        guard let count = perOrigin[place.origin] else { return }
        taken -= 1
        perOrigin[place.origin] = count > 1 ? count - 1 : nil
        guard let rule = place.rule, let count = perRule[rule] else { return }
        perRule[rule] = count > 1 ? count - 1 : nil
    }
}
