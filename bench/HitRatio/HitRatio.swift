// SPDX-License-Identifier: Apache-2.0

import Bodies
import Cache
import Freshness
import Imaging
import Primitives

/// Compares the memory tier's hit ratio with that of LRU for the same number of bytes, on synthetic traces:
/// `hit-ratio`.
@main
enum HitRatio {
    private static let requests = 1_000_000
    private static let capacities = [2, 8, 32]

    static func main() {
        print("hit ratio, \(requests) requests, bodies of 0.5–8.5 KiB   capacity    memory       LRU   goal")
        for trace in Trace.all {
            for capacity in capacities {
                let bytes = capacity << 20
                let (ours, lru) = run(trace, bytes: bytes)
                print(
                    "\(padded(trace.name, 54)) \(padded("\(capacity) MiB", 8)) \(percent(ours))    "
                        + "\(percent(lru))   ≥ LRU\(ours >= lru ? "" : "  MISSED")")
            }
        }
    }

    /// The hit ratios of both, for the same requests.
    private static func run(_ trace: Trace, bytes: Int) -> (ours: Double, lru: Double) {
        var configuration = MemoryCacheConfiguration()
        configuration.maxBytes = ByteCount(bytes)
        configuration.maxEntryBytes = .kibibytes(16)
        let memory = MemoryCache(configuration: configuration)
        var lru = LRU(capacity: bytes)
        var trace = trace
        var hits = 0
        for _ in 0..<requests {
            let number = trace.next()
            let key = CacheKey(high: Random.mixed(number), low: Random.mixed(number ^ 0xA5A5))
            if memory.entry(for: key) != nil {
                hits += 1
                lru.ask(number, cost: entry(number, key).cost)
            } else {
                let new = entry(number, key)
                memory.insert(new)
                lru.ask(number, cost: new.cost)
            }
        }
        return (Double(hits) / Double(requests), Double(lru.hits) / Double(requests))
    }

    private static func entry(_ number: UInt64, _ key: CacheKey) -> MemoryEntry {
        let count = 512 + Int(Random.mixed(number) >> 40) % 8_192
        let hash = ContentHash(of: [])
        let record = SourceRecord(
            key: key, keyText: "s", contentHash: hash, byteCount: count, format: .jpeg,
            responseTime: WallTime(seconds: 0),
            freshnessLifetime: 1)
        return MemoryEntry(
            description: EntryDescription(
                kind: .result, key: key, keyText: "r", sourceKey: key, sourceHash: hash, contentHash: hash,
                format: .jpeg, storedAt: 0),
            body: [UInt8](repeating: 0, count: count), record: record)
    }

    private static func percent(_ share: Double) -> String {
        let tenths = Int((share * 1_000).rounded())
        return padded("\(tenths / 10).\(tenths % 10) %", 7)
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
