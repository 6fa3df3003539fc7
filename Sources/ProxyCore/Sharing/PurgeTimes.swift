// SPDX-License-Identifier: Apache-2.0

import Cache
import Primitives

/// When what was purged last, by the store's clock: what was stored before is not used. Pure.
///
/// Bounded: where a purge is forgotten, everything from before it counts as purged.
struct PurgeTimes: Sendable {
    /// Purged by key: a source, a picture, or a tag's hash.
    private var times: [CacheKey: Int64] = [:]
    /// In the order in which they were noted; a key that was noted again stands there twice, and the later place counts.
    private var order = FIFO<(key: CacheKey, time: Int64)>()
    private var prefixes: [(text: String, time: Int64)] = []
    /// What was stored until then is purged.
    private(set) var floor = Int64.min
    private let capacity: Int

    /// Most prefixes, which every look-up compares.
    static let maxPrefixes = 256

    init(capacity: Int = 1 << 18) { self.capacity = max(1, capacity) }

    /// The number of purges that are remembered.
    var count: Int { times.count + prefixes.count }

    /// Notes a purge at a time, in seconds since 1970.
    mutating func note(_ target: PurgeTarget, at time: Int64) {
        switch target {
        case .source(let key), .key(let key): note(key, at: time)
        case .tag(let tag): note(Self.key(ofTag: tag), at: time)
        case .everything: floor = max(floor, time)
        case .prefix(let text):
            if let place = prefixes.firstIndex(where: { $0.text == text }) {
                guard prefixes[place].time < time else { return }
                prefixes.remove(at: place)
            }
            prefixes.append((text, time))
            if prefixes.count > Self.maxPrefixes {
                floor = max(floor, prefixes.removeFirst().time)
            }
        }
    }

    private mutating func note(_ key: CacheKey, at time: Int64) {
        let time = max(times[key] ?? .min, time)
        guard times.updateValue(time, forKey: key) != time else { return }
        order.append((key, time))
        while times.count > capacity { forgetOldest() }
        guard order.count > 3 * capacity else { return }
        // Mostly earlier places of keys that were noted again.
        let times = times
        order.removeAll { times[$0.key] != $0.time }
    }

    private mutating func forgetOldest() {
        guard let (key, time) = order.popFirst(), times[key] == time else { return }
        times[key] = nil
        floor = max(floor, time)
    }

    private static func key(ofTag tag: String) -> CacheKey { CacheKey(canonicalText: "tag " + tag) }

    /// When the last purge was that concerns a picture; `Int64.min` for none.
    ///
    /// - Parameters:
    ///   - url: of its source, normalized.
    ///   - tags: those of the request, and those under which it was stored.
    func last(source: CacheKey, result: CacheKey?, url: String, tags: [String]) -> Int64 {
        var last = max(floor, times[source] ?? .min)
        if let result { last = max(last, times[result] ?? .min) }
        for tag in tags { last = max(last, times[Self.key(ofTag: tag)] ?? .min) }
        for prefix in prefixes where url.hasPrefix(prefix.text) { last = max(last, prefix.time) }
        return last
    }

    /// Whether something of a picture is from before a purge that concerns it.
    ///
    /// - Parameters:
    ///   - tags: those under which it was stored, beside the request's.
    ///   - time: when it was fetched or made.
    func isPurged(_ subject: SharedSubject, tags: [String], madeAt time: Int64) -> Bool {
        let last = last(
            source: subject.source, result: subject.result, url: subject.url, tags: subject.tags + tags)
        return last != .min && time <= last + Self.margin
    }

    /// A picture counts as from before a purge within this time: the store's clock shows whole seconds. Seconds.
    static let margin: Int64 = 2

    /// Whether a source was purged at a time, in seconds since 1970, or later.
    func isPurged(_ source: CacheKey, since time: Int64) -> Bool {
        times[source].map { $0 >= time } ?? false
    }
}
