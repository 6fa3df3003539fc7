// SPDX-License-Identifier: Apache-2.0

import Primitives
import Synchronization

/// Sources with a later record than the one in their entries' files.
///
/// One bit each in a table of fixed size: it may contain a source that is not outdated, which costs a read of
/// the index, and never misses one that is. It contains every source until `markComplete`. Safe from any thread.
final class OutdatedSources: Sendable {
    private let words: Mutex<[UInt64]>
    private let complete = Atomic(false)

    /// A mebibyte: with a million sources in it, one in ten others is a false positive.
    private static let bitCount: UInt64 = 1 << 23

    init() {
        words = Mutex([UInt64](repeating: 0, count: Int(Self.bitCount / 64)))
    }

    /// Hot path: whether the record in a file of the source may be outdated.
    func mayContain(_ source: CacheKey) -> Bool {
        guard isComplete else { return true }
        let bit = Self.bit(of: source)
        return words.withLock { $0[Int(bit / 64)] & (1 << (bit % 64)) != 0 }
    }

    /// Adds a source, for the life of the process.
    func insert(_ source: CacheKey) {
        let bit = Self.bit(of: source)
        words.withLock { $0[Int(bit / 64)] |= 1 << (bit % 64) }
    }

    /// Whether every outdated source of the index has been added.
    var isComplete: Bool { complete.load(ordering: .acquiring) }

    /// Declares that.
    func markComplete() { complete.store(true, ordering: .releasing) }

    /// Keys are evenly distributed.
    private static func bit(of source: CacheKey) -> UInt64 { source.low % bitCount }
}
