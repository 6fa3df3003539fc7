// SPDX-License-Identifier: Apache-2.0

import Primitives
import Synchronization

/// The work between batches, in small steps.
extension DiskWriter {
    /// A step of a sweep; returns false when it has nothing left to do, and the next one follows.
    typealias SweepStep = (DiskWriter) -> () throws(DiskCacheError) -> Bool

    /// What a sweep does, in this order.
    private static var sweepSteps: [SweepStep] {
        [writeAccesses, evictAged, removeExcessRecords, removeExcessLinks, measure, evictToSize]
    }

    var batchSize: Int { storage.configuration.limits.batchSize }
    /// Entries removed in one step: a millisecond or less, with their transaction.
    private var evictionStep: Int { min(batchSize, 32) }

    /// Whether everything on disk has been counted.
    var knowsEverything: Bool { isLoaded && scan.isDone }

    /// Whether the tier exceeds its bound, as far as everything has been counted.
    var isOverSize: Bool {
        storage.counters.withLock(\.tally).bytes > storage.entryBytes(of: storage.bounds.maxBytes)
    }

    /// Runs one small step of the work between batches; false if there is none.
    func doHousekeeping() -> Bool {
        do {
            if try reopen() { return true }
            guard !storage.isOff else { return false }
            // What is not counted yet would be removed without an end: its removal does not make the sum smaller.
            if isLoaded, storage.health.withLock(\.needsSpace) { try evictForSpace() }
            if try stepSweep() { return true }
            if stepLoad() { return true }
            if try stepScan() { return true }
            if hasTrash { hasTrash = try storage.folder.emptyTrash() }
            return hasTrash
        } catch {
            // What fails now is tried again by the next sweep.
            storage.failed(with: error)
            sweep = []
            return false
        }
    }

    /// Does what must not be lost before the tier closes.
    func finishHousekeeping() {
        accessed += storage.accesses.take()
        do throws(DiskCacheError) {
            while try writeAccesses() {}
        } catch {
            storage.failed(with: error)
        }
    }

    private func stepSweep() throws(DiskCacheError) -> Bool {
        if sweep.isEmpty, mustSweep {
            (sweep, mustSweep, sweepTarget) = (Self.sweepSteps[...], false, nil)
            // Those of a sweep that was cut off come first; all together stay within the bound of one.
            accessed = (accessed + storage.accesses.take()).suffix(
                storage.configuration.limits.maxAccessTimes)
        }
        guard let step = sweep.first else { return false }
        do throws(DiskCacheError) {
            if try !step(self)() { sweep.removeFirst() }
        } catch {
            // The next sweep tries it again; what follows must free space nevertheless.
            storage.failed(with: error)
            sweep.removeFirst()
        }
        return true
    }

    // MARK: - Steps

    /// Writes a batch of the access times that were collected before the sweep: what was served stays.
    private func writeAccesses() throws(DiskCacheError) -> Bool {
        let some = accessed.suffix(batchSize)
        accessed.removeLast(some.count)
        try apply(some.map { access in { try $0.recordAccess(access.id, at: access.time) } })
        return !some.isEmpty
    }

    private func evictAged() throws(DiskCacheError) -> Bool {
        try evict(
            try storage.index.oldest(before: storage.clock() - storage.bounds.maxAge, limit: evictionStep),
            because: .age)
    }

    /// Removes the source records saved longest ago, when there are too many or the index is too large.
    private func removeExcessRecords() throws(DiskCacheError) -> Bool {
        let records = storage.counters.withLock(\.tally).records
        let excess = records - storage.configuration.limits.maxSourceRecords
        guard records > 0, isLoaded else { return false }
        let isIndexTooLarge = try storage.index.usedBytes() > storage.bounds.maxIndexBytes
        guard excess > 0 || isIndexTooLarge else { return false }
        let limit = isIndexTooLarge ? batchSize : min(excess, batchSize)
        let removed = try storage.index.deleteOldestRecords(limit: limit)
        storage.counters.withLock { $0.tally.records -= removed }
        return removed > 0
    }

    /// Purges the results of the tags seen longest ago, when there are too many: a purge by their tag would no
    /// longer find those.
    private func removeExcessLinks() throws(DiskCacheError) -> Bool {
        let links = try storage.index.excessLinks(beyond: storage.bounds.maxTagLinks, limit: evictionStep)
        guard !links.isEmpty else { return false }
        var batch = WriteBatch()
        let unlinked = storage.observers.withLock(\.unlinked)
        defer { unlinked(links, true) }
        _ = try purge(links, found: { unlinked($0, false) }, &batch)
        return true
    }

    private func measure() -> Bool {
        storage.measure()
        return false
    }

    private func evictToSize() throws(DiskCacheError) -> Bool {
        guard knowsEverything else { return false }
        if isOverSize { sweepTarget = storage.entryBytes(of: storage.bounds.lowWaterBytes) }
        guard let sweepTarget else { return false }
        return try evictOldest(downTo: sweepTarget, atMost: evictionStep)
    }

    /// Removes the oldest entries, at most `limit`, until only so many bytes are left; false if that is so.
    private func evictOldest(downTo target: Int64, atMost limit: Int) throws(DiskCacheError) -> Bool {
        var excess = storage.counters.withLock(\.tally).bytes - target
        var victims: [IndexEntry] = []
        for entry in try storage.index.oldest(before: nil, limit: limit) where excess > 0 {
            victims.append(entry)
            excess -= storage.index.allocated(entry.bytes)
        }
        return try evict(victims, because: .size)
    }

    /// Removes entries; false if there are none.
    ///
    /// One whose file can't be removed is left for the next start: it must not block the others.
    private func evict(
        _ victims: [IndexEntry], because reason: EvictionReason
    ) throws(DiskCacheError) -> Bool {
        var givenUp: DiskCacheError?
        for entry in victims {
            do throws(DiskCacheError) {
                try storage.folder.unlink(entry.id)
            } catch  where error.concernsOneFile {
                storage.counters.withLock { $0.writeErrors += 1 }
                givenUp = error
            }
            storage.entries.remove(entry.id)
        }
        // A file that is kept open still takes its space on the disk.
        storage.observers.withLock(\.swept)(victims.map(\.id))
        try apply(victims.map { entry in { try $0.delete(entry.id, row: entry.row) } }, makesSpace: true)
        if let givenUp {
            storage.report { $0.failed(with: givenUp, at: $1) }
            try abandonFiles()
        }
        storage.counters.withLock { $0.evicted(victims.count, because: reason) }
        return !victims.isEmpty
    }

    /// Frees space on a full disk: what is between the low-water mark and the present size.
    ///
    /// All at once and before anything else, since a store fails until then; some milliseconds for a thousand
    /// entries.
    private func evictForSpace() throws(DiskCacheError) {
        let before = storage.counters.withLock(\.tally).bytes
        let target = Int64(Double(before) * storage.bounds.lowWater)
        defer {
            let freed = before - storage.counters.withLock(\.tally).bytes
            storage.health.withLock { $0.freedSpace(freed, at: storage.clock()) }
        }
        while try storage.folder.emptyTrash() {}
        while try evictOldest(downTo: target, atMost: batchSize) {}
    }
}
