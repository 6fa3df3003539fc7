// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Primitives
import Synchronization

/// A sweep in progress.
struct Sweep {
    /// The steps of a sweep, in order.
    enum Phase {
        /// Removing what is too old.
        case age
        /// Removing the source records saved longest ago, when there are too many or the index is too large.
        case records
        /// Purging the results of the tags seen longest ago, when there are too many.
        case tags
        /// Removing the oldest down to the low-water mark, when the tier is over its size.
        case size
    }

    var phase = Phase.age
    /// How many bytes are to be left, once it is known that there are too many.
    var target: Int64?
    /// Entries removed so far.
    var removed = 0
    /// Called when it is over.
    var completions: [DiskWriter.Completion] = []
}

/// The work between batches, in small steps.
extension DiskWriter {
    var batchSize: Int { parts.configuration.limits.batchSize }
    /// Entries removed in one step: a millisecond or less, with their transaction.
    private var evictionStep: Int { min(batchSize, 32) }

    /// Whether the tier exceeds its bound, as far as everything has been counted.
    var isOverSize: Bool {
        parts.counters.tally.bytes > parts.entryBytes(of: parts.bounds.withLock { $0.totalBytes })
    }

    /// Starts a sweep; during one, a caller that waits gets the next.
    func beginSweep(_ completion: Completion?) {
        mustWriteAccesses = true
        let completions = completion.map { [$0] } ?? []
        if sweep == nil {
            sweep = Sweep(completions: completions)
        } else {
            waitingSweeps += completions
        }
    }

    /// Runs one small step of the work between batches; false if there is none.
    func doHousekeeping() -> Bool {
        do {
            if try recover() { return true }
            guard !parts.isOff else {
                endSweep(with: nil)
                return false
            }
            if parts.monitor.needsSpace { try freeSpace() }
            if try stepSweep() { return true }
            if try stepScan() { return true }
            if try stepTrash() { return true }
            try stepAccesses()
            return false
        } catch {
            // What fails now is tried again by the next sweep.
            parts.failed(with: error)
            endSweep(with: .failure(error))
            return false
        }
    }

    /// Does what must not be lost before the tier closes, and fails the sweeps that are waited for.
    func finishHousekeeping() {
        mustWriteAccesses = true
        // Lost: accesses that can't be written; they are some minutes' at most, and the failure shows in
        // closing.
        while (try? writeAccesses()) == true {}
        endSweep(with: .failure(.closed))
    }

    private func stepSweep() throws(DiskCacheError) -> Bool {
        guard let phase = sweep?.phase else { return false }
        switch phase {
        case .age: if try !stepAge() { sweep?.phase = .records }
        case .records: if try !stepRecords() { sweep?.phase = .tags }
        case .tags:
            guard !stepTags() else { break }
            parts.measure()
            sweep?.phase = .size
        case .size: if try !stepSize() { endSweep(with: nil) }
        }
        return true
    }

    private func endSweep(with result: Result<Int, DiskCacheError>?) {
        let (ended, waiting) = (sweep, waitingSweeps)
        (sweep, waitingSweeps) = (nil, [])
        if ended != nil { scan.retry() }
        for completion in ended?.completions ?? [] { completion(result ?? .success(ended?.removed ?? 0)) }
        if case .failure(let error) = result {
            for completion in waiting { completion(.failure(error)) }
        } else {
            for completion in waiting { beginSweep(completion) }
        }
    }

    // MARK: - Steps: each returns false when its phase is over

    private func stepAge() throws(DiskCacheError) -> Bool {
        let maxAge = Int64(parts.bounds.withLock { $0.maxAge.seconds })
        let expired = try parts.index.oldest(before: parts.clock() - maxAge, limit: evictionStep)
        return try evict(expired, because: .age, sparingAccessed: true)
    }

    private func stepSize() throws(DiskCacheError) -> Bool {
        guard loading == .done, scan.isDone else { return false }
        if isOverSize {
            let lowWater = parts.entryBytes(of: parts.bounds.withLock { $0.lowWaterBytes })
            sweep?.target = lowWater
        }
        guard let target = sweep?.target else { return false }
        return try evictOldest(downTo: target, atMost: evictionStep, sparingAccessed: true)
    }

    /// Removes the oldest entries, at most `limit`, until only so many bytes are left; false if that is so.
    private func evictOldest(
        downTo target: Int64, atMost limit: Int, sparingAccessed: Bool
    ) throws(DiskCacheError) -> Bool {
        var excess = parts.counters.tally.bytes - target
        var victims: [IndexEntry] = []
        for entry in try parts.index.oldest(before: nil, limit: limit) where excess > 0 {
            victims.append(entry)
            excess -= parts.index.allocated(entry.bytes)
        }
        return try evict(victims, because: .size, sparingAccessed: sparingAccessed)
    }

    /// Frees space on a full disk: what is between the low-water mark and the present size.
    ///
    /// All at once and before anything else, since a store fails until then; some milliseconds for a thousand
    /// entries.
    private func freeSpace() throws(DiskCacheError) {
        let before = parts.counters.tally.bytes
        let target = Int64(Double(before) * parts.bounds.withLock { $0.lowWater })
        defer { parts.monitor.freedSpace(before - parts.counters.tally.bytes) }
        while try evictOldest(downTo: target, atMost: batchSize, sparingAccessed: false) {}
        while try stepTrash() {}
    }

    /// Removes entries; for one that was served since the index was written, the access time is written
    /// instead, and it stays.
    ///
    /// One whose file can't be removed is left for the next start: it must not block the others.
    ///
    /// - Returns: false if there are none.
    private func evict(
        _ victims: [IndexEntry], because reason: EvictionReason, sparingAccessed: Bool
    ) throws(DiskCacheError) -> Bool {
        var changes: [IndexChange] = []
        var removed: [EntryID] = []
        var givenUp: DiskCacheError?
        for entry in victims {
            if sparingAccessed, let time = unwrittenAccess(of: entry) {
                changes.append(.recordAccess(entry.id, at: time))
                continue
            }
            do throws(DiskCacheError) {
                try parts.folder.unlink(entry.id)
            } catch  where error.isOfOneFile {
                parts.counters.update { $0.writeErrors += 1 }
                givenUp = error
            }
            parts.entries.remove(entry.id)
            changes.append(.delete(entry.id))
            removed.append(entry.id)
        }
        // Whatever happens to the rows: the files are removed, and one that is kept open still takes its
        // space on the disk.
        defer { parts.observers.withLock(\.swept)(removed) }
        try apply(changes)
        if let givenUp {
            parts.monitor.failed(with: givenUp)
            try parts.index.abandonFiles()
        }
        parts.counters.evicted(removed.count, because: reason)
        sweep?.removed += removed.count
        return !victims.isEmpty
    }

    private func stepRecords() throws(DiskCacheError) -> Bool {
        let records = parts.counters.tally.records
        let excess = records - parts.configuration.limits.maxSourceRecords
        guard records > 0, loading == .done else { return false }
        let isIndexTooLarge = try parts.index.usedBytes() > parts.bounds.withLock { $0.indexBytes }
        guard excess > 0 || isIndexTooLarge else { return false }
        let limit = isIndexTooLarge ? batchSize : min(excess, batchSize)
        let removed = try parts.index.deleteOldestRecords(limit: limit)
        parts.counters.update { $0.tally.records -= removed }
        return removed > 0
    }

    /// Links are removed with their results: a purge by their tag would no longer find those.
    private func stepTags() -> Bool {
        do {
            let links = try parts.index.excessLinks(
                beyond: parts.bounds.withLock { $0.tagLinks }, limit: evictionStep)
            if !links.isEmpty { try purgeExcess(links) }
            return !links.isEmpty
        } catch {
            // The next sweep tries it again; an unreadable folder must not prevent this one from freeing
            // space.
            parts.failed(with: error)
            return false
        }
    }

    private func stepTrash() throws(DiskCacheError) -> Bool {
        if hasTrash { hasTrash = try parts.folder.emptyTrash() }
        return hasTrash
    }

    // MARK: - Accesses

    /// The fraction of the time between two steps that writing accesses may take.
    ///
    /// Writing one to the index costs more than its hit. If a million pictures are requested at random there
    /// are as many as hits, so they get a bounded share of one core; what exceeds the table meanwhile is
    /// dropped.
    private static let oneIn: UInt64 = 20

    /// Writes some of the accesses that wait, unless it has just done so; then it is woken when it is time.
    private func stepAccesses() throws(DiskCacheError) {
        let began = DispatchTime.now().uptimeNanoseconds
        guard accessesNotBefore <= began, try writeAccesses() else { return }
        let spent = DispatchTime.now().uptimeNanoseconds - began
        accessesNotBefore = began + spent * Self.oneIn
        wake(at: DispatchTime(uptimeNanoseconds: accessesNotBefore))
    }

    /// Writes a batch of the accesses that wait; false if there are none, or too few as yet.
    private func writeAccesses() throws(DiskCacheError) -> Bool {
        if accessed.isEmpty, mustWriteAccesses || parts.accesses.isHalfFull {
            (accessed, mustWriteAccesses) = (parts.accesses.beginRound(), false)
        }
        // A copy, so that the array that it is taken from stays in place.
        let some = Array(accessed.suffix(batchSize))
        accessed.removeLast(some.count)
        try apply(parts.accesses.take(some.reversed()))
        return !some.isEmpty
    }

    /// When an entry was served if the index has an earlier time, because that has yet to be written; nil for
    /// any other.
    private func unwrittenAccess(of entry: IndexEntry) -> Int64? {
        guard parts.configuration.expireBy == .access, let time = parts.accesses.time(of: entry.id),
            time - entry.accessedAt > parts.index.accessPrecision
        else { return nil }
        return time
    }
}
