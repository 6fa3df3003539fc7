// SPDX-License-Identifier: Apache-2.0

import Primitives
import Rendering
import Request

/// Results that wait to be made once more, each once; clients take turns. Pure.
///
/// Bounded by count and by the bytes of their texts; when it is full, a client with many gives a place up to one with few.
struct ImprovementQueue {
    /// One result on its way.
    struct Item: Sendable {
        let id: Int
        let request: ImageRequest
    }

    private let capacity: Int
    private var queue = JobQueue<Item>()
    /// The bytes that the waiting results and the running one count as.
    private var costs: [CacheKey: Int] = [:]
    private var bytes = 0
    private var running: CacheKey?
    private var lastID = 0
    /// Nothing begins before, in seconds since 1970.
    private var pausedUntil: Int64 = 0

    /// Bytes of the texts of all that waits.
    private static let maxBytes = 4 << 20
    /// Bytes counted for each waiting result, in addition to its texts.
    private static let overhead = 1 << 10
    /// Seconds without a further one after a client's job has ended one: a worker's start is work, too.
    private static let pause: Int64 = 5

    /// Nothing waits.
    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// Results that wait.
    var count: Int { queue.count }

    /// Has a result wait; false when there is no place for it. One that waits or runs already stays where it is.
    mutating func add(_ request: ImageRequest, for client: ClientID?) -> Bool {
        guard costs[request.resultKey] == nil else { return true }
        let waiters = Waiters(client)
        let cost = Self.overhead + 4 * (request.sourceKeyText.utf8.count + request.resultKeyText.utf8.count)
        guard cost <= Self.maxBytes else { return false }
        while queue.count >= capacity || bytes + cost > Self.maxBytes {
            guard let displaced = queue.displace(for: waiters) else { return false }
            forget(displaced)
        }
        lastID += 1
        queue.append(Item(id: lastID, request: request), id: lastID, for: waiters)
        costs[request.resultKey] = cost
        bytes += cost
        return true
    }

    private mutating func forget(_ item: Item) {
        bytes -= costs.removeValue(forKey: item.request.resultKey) ?? 0
    }

    /// Takes the next one out; nil when one is under way, none waits, or it is too early.
    mutating func begin(at now: Int64) -> Item? {
        // A clock that was set back must not make the pause longer.
        guard running == nil, !(1...Self.pause).contains(pausedUntil - now),
            let item = queue.takeNext(at: .now)
        else { return nil }
        running = item.request.resultKey
        return item
    }

    /// Notes that one has come to its end.
    /// - Parameter wasInterrupted: whether a client's job has ended it.
    mutating func end(_ item: Item, wasInterrupted: Bool, at now: Int64) {
        queue.end(item.id, at: .now)
        forget(item)
        running = nil
        if wasInterrupted { pausedUntil = now + Self.pause }
    }
}
