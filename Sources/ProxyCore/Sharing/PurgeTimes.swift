// SPDX-License-Identifier: Apache-2.0

import Primitives

/// When what was purged last, by the store's clock: what was stored before is not used. Pure.
///
/// Bounded: where a purge is forgotten, everything from before it counts as purged.
struct PurgeTimes: Sendable {
    /// Purged by key: a source, a picture, or a tag's hash.
    private var times: [CacheKey: Int64] = [:]
    private var order: [CacheKey] = []
    /// How many of `order` have been forgotten.
    private var forgotten = 0
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
    mutating func note(_ target: SharedPurge.Target, at time: Int64) {
        switch target {
        case .source(let key), .key(let key): note(key, at: time)
        case .tag(let tag): note(Self.key(ofTag: tag), at: time)
        case .everything: floor = max(floor, time)
        case .prefix(let text):
            prefixes.append((text, time))
            if prefixes.count > Self.maxPrefixes {
                floor = max(floor, prefixes.removeFirst().time)
            }
        }
    }

    private mutating func note(_ key: CacheKey, at time: Int64) {
        if let known = times[key] {
            times[key] = max(known, time)
            return
        }
        times[key] = time
        order.append(key)
        guard times.count > capacity else { return }
        floor = max(floor, times.removeValue(forKey: order[forgotten]) ?? floor)
        forgotten += 1
        if forgotten > capacity {
            order.removeFirst(forgotten)
            forgotten = 0
        }
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
}
