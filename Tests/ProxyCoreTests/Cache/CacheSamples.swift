// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestSupport

@testable import Bodies
@testable import Cache
@testable import Freshness
@testable import Imaging
@testable import Primitives

/// A clock that only tests advance.
final class SteppedClock: Sendable {
    private let now: Atomic<Int64>

    init(_ start: Int64 = 1_000_000) {
        now = Atomic(start)
    }

    var time: Int64 { now.load(ordering: .relaxed) }

    func advance(by seconds: Int64) {
        now.add(seconds, ordering: .relaxed)
    }
}

func key(_ text: String) -> CacheKey { CacheKey(canonicalText: text) }

/// Bytes that differ with the seed and repeat late.
func bytes(_ count: Int, seed: Int = 1) -> [UInt8] {
    var state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 | 1
    return (0..<count).map { _ in
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return UInt8(truncatingIfNeeded: state >> 32)
    }
}

func describe(
    _ text: String, kind: EntryKind = .result, source: String = "source", body: [UInt8],
    storedAt: Int64 = 1_000_000
) -> EntryDescription {
    EntryDescription(
        kind: kind, key: key(text), keyText: text, sourceKey: key(source),
        sourceHash: ContentHash(of: Array(source.utf8)), contentHash: ContentHash(of: body), format: .webp,
        width: 320, height: 200, storedAt: storedAt)
}

func record(
    _ source: String = "source", content: String? = nil, lifetime: Int64 = 60
) -> SourceRecord {
    var record = SourceRecord(
        key: key(source), keyText: source, contentHash: ContentHash(of: Array((content ?? source).utf8)),
        byteCount: 7, format: .jpeg, entityTag: "\"a\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
        responseTime: WallTime(seconds: 1_000_000), initialAge: .seconds(3), freshnessLifetime: lifetime,
        directives: [.mustRevalidate], staleIfError: 9)
    record.reuse.reuseFields = [HeaderField(name: "cache-control", value: "must-revalidate")]
    return record
}

func memoryEntry(_ text: String, source: String = "source", count: Int = 100) -> MemoryEntry {
    let body = bytes(count)
    return MemoryEntry(
        description: describe(text, source: source, body: body), body: body, record: record(source))
}

extension StoredBody {
    /// All bytes, in memory or in a file.
    func readAll() throws -> [UInt8] {
        switch self {
        case .bytes(let bytes): return bytes
        case .file(let file, let offset, let length):
            return try file.readAll(from: offset, count: Int(length))
        }
    }
}

extension DiskCache {
    /// A look-up with what the kernel has in memory; nil if that is not enough.
    func findCached(_ name: String, kind: EntryKind = .result) -> DiskHit? {
        try? find(key(name), kind, name, .cached())
    }
}

/// Leaves the folder's `cache` like a process that is killed: the lock names the present boot.
func leaveAsKilled(_ folder: TemporaryDirectory) throws {
    let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
    try folder.write(Array(boot.utf8), to: "cache/lock")
}

extension DiskCache {
    /// Has the writer do a whole sweep, and all other housekeeping, before the next job; returns how many entries were removed.
    @discardableResult
    func sweep() async throws(DiskCacheError) -> Int {
        try await writer.perform { (writer, batch) in
            writer.flush(&batch)
            (writer.sweep, writer.mustSweep) = ([], true)
            writer.scan.retry()
            let before = writer.storage.counters.withLock(\.evictions).values.reduce(0, +)
            while writer.doHousekeepingInPauses() {}
            return writer.storage.counters.withLock(\.evictions).values.reduce(-before, +)
        }
    }
}
