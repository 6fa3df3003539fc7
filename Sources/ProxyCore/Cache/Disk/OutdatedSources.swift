// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Sources with a later record than the one in their entries' files.
///
/// A Bloom filter of fixed size: it may contain a source that is not outdated, which costs a read of the
/// index, and never misses one that is. It contains every source until `markComplete`. Safe from any thread.
final class OutdatedSources: Sendable {
    private let words: Mutex<[UInt64]>
    private let isComplete = Atomic(false)

    /// A mebibyte: with a million sources in it, one in ten others is a false positive.
    private static let bitCount: UInt64 = 1 << 23
    /// The number of bits per source.
    private static let bitsPerSource: UInt64 = 3

    init() {
        words = Mutex([UInt64](repeating: 0, count: Int(Self.bitCount / 64)))
    }

    /// Hot path: whether the record in a file of the source may be outdated.
    func mayContain(_ source: CacheKey) -> Bool {
        guard isComplete.load(ordering: .acquiring) else { return true }
        return words.withLock { words in
            (0..<Self.bitsPerSource).allSatisfy { number in
                let bit = Self.bit(number, of: source)
                return words[Int(bit / 64)] & (1 << (bit % 64)) != 0
            }
        }
    }

    /// Adds a source, for the life of the process.
    func insert(_ source: CacheKey) {
        words.withLock { words in
            for number in 0..<Self.bitsPerSource {
                let bit = Self.bit(number, of: source)
                words[Int(bit / 64)] |= 1 << (bit % 64)
            }
        }
    }

    /// Declares that every outdated source of the index has been added.
    func markComplete() {
        isComplete.store(true, ordering: .releasing)
    }

    /// Keys are evenly distributed, so two halves give as many independent positions as needed.
    private static func bit(_ number: UInt64, of source: CacheKey) -> UInt64 {
        (source.low &+ number &* (source.high | 1)) % bitCount
    }
}
