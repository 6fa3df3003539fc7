// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension DiskWriter {
    private var batchSize: Int { parts.configuration.limits.batchSize }
    /// Entries removed in one step: a millisecond or less, with their transaction.
    private var evictionStep: Int { min(batchSize, 32) }

    /// Whether the tier holds more than it may, as far as everything has been counted.
    var isOverSize: Bool {
        parts.counters.tally.bytes > Int64(parts.configuration.maxBytes.bytes)
    }

    /// Begins a sweep, or has another one follow the one that is going on when somebody waits for it.
    func beginSweep(_ completion: (@Sendable (Result<Int, DiskCacheError>) -> Void)?) {
        let touches = parts.touches.takeAll().map { (id: $0.key, time: $0.value) }
        housekeeping.withLock { state in
            guard state.sweep == nil else {
                state.sweep?.touches += touches
                if let completion { state.waiting.append(completion) }
                return
            }
            state.sweep = Housekeeping.Sweep(touches: touches, completions: completion.map { [$0] } ?? [])
        }
    }

    /// Does one small step of what there is to do between batches; false when there is nothing.
    func keepHouse() -> Bool {
        do {
            if try recover() { return true }
            if parts.monitor.wantsRoom { try makeRoom() }
            if try stepSweep() { return true }
            if try stepScan() { return true }
            return try stepTrash()
        } catch {
            // Whatever could not be done now is tried again by the next sweep.
            parts.counters.failedToWrite()
            parts.monitor.failed(with: error)
            endSweep(with: .failure(error))
            return false
        }
    }

    /// Does what must not be lost before the tier closes, and tells those who wait for a sweep that there is none.
    func finishHousekeeping() {
        beginSweep(nil)
        // Lost: accesses that can't be written; they are some minutes' at most, and the failure shows in closing.
        while (try? stepTouches()) == true {}
        endSweep(with: .failure(.closed))
    }

    private func stepSweep() throws(DiskCacheError) -> Bool {
        guard let phase = housekeeping.withLock({ $0.sweep?.phase }) else { return false }
        switch phase {
        case .touches: if try !stepTouches() { advance(to: .age) }
        case .age: if try !stepAge() { advance(to: .size) }
        case .size: if try !stepSize() { advance(to: .records) }
        case .records: if try !stepRecords() { advance(to: .tags) }
        case .tags:
            let limits = parts.configuration.limits
            if try parts.index.trimLinks(to: limits.maxTagLinks, limit: batchSize) == 0 {
                advance(to: .vacuum)
            }
        case .vacuum:
            if try !parts.index.giveBackPages(limit: batchSize) { endSweep(with: nil) }
        }
        return true
    }

    private func advance(to phase: Housekeeping.Phase) {
        housekeeping.withLock { $0.sweep?.phase = phase }
    }

    private func endSweep(with result: Result<Int, DiskCacheError>?) {
        let (sweep, waiting) = housekeeping.withLock { state in
            defer { (state.sweep, state.waiting) = (nil, []) }
            return (state.sweep, state.waiting)
        }
        for completion in sweep?.completions ?? [] { completion(result ?? .success(sweep?.removed ?? 0)) }
        parts.ballast.fill()
        if case .failure = result {
            for completion in waiting { completion(result ?? .success(0)) }
        } else if let first = waiting.first {
            beginSweep(first)
            housekeeping.withLock { $0.sweep?.completions += waiting.dropFirst() }
        }
    }

    // MARK: - Steps: each returns false when its phase is over

    private func stepTouches() throws(DiskCacheError) -> Bool {
        let some = housekeeping.withLock { state -> [(id: EntryID, time: Int64)] in
            guard let touches = state.sweep?.touches else { return [] }
            defer { state.sweep?.touches.removeLast(min(batchSize, touches.count)) }
            return touches.suffix(batchSize)
        }
        try apply(some.map { .touch($0.id, at: $0.time) })
        return !some.isEmpty
    }

    private func stepAge() throws(DiskCacheError) -> Bool {
        let maxAge = Int64(parts.configuration.maxAge.seconds)
        let expired = try parts.index.oldest(before: parts.clock() - maxAge, limit: evictionStep)
        return try evict(expired, because: .age)
    }

    private func stepSize() throws(DiskCacheError) -> Bool {
        guard housekeeping.withLock({ $0.loading == .done && $0.scan.isEmpty }) else { return false }
        if isOverSize {
            let lowWater = Double(parts.configuration.maxBytes.bytes) * parts.configuration.lowWater
            housekeeping.withLock { $0.sweep?.target = Int64(lowWater) }
        }
        guard let target = housekeeping.withLock({ $0.sweep?.target }) else { return false }
        return try evictOldest(downTo: target, atMost: evictionStep)
    }

    /// Removes the oldest entries, at most `limit`, until only so many bytes are left; false when that is so.
    private func evictOldest(downTo target: Int64, atMost limit: Int) throws(DiskCacheError) -> Bool {
        var excess = parts.counters.tally.bytes - target
        var victims: [IndexEntry] = []
        for entry in try parts.index.oldest(before: nil, limit: limit) where excess > 0 {
            victims.append(entry)
            excess -= entry.bytes
        }
        return try evict(victims, because: .size)
    }

    /// Gives a full disk some room: what is between the low-water mark and all that there is now.
    ///
    /// All at once and before anything else, for whoever stores now finds no room; some milliseconds for a thousand entries.
    private func makeRoom() throws(DiskCacheError) {
        let before = parts.counters.tally.bytes
        let target = Int64(Double(before) * parts.configuration.lowWater)
        defer { parts.monitor.madeRoom(before - parts.counters.tally.bytes) }
        while try evictOldest(downTo: target, atMost: batchSize) {}
        while try stepTrash() {}
    }

    private func evict(_ victims: [IndexEntry], because reason: EvictionReason) throws(DiskCacheError) -> Bool
    {
        var changes: [IndexChange] = []
        for entry in victims {
            try parts.folder.unlink(entry.id)
            parts.entries.remove(entry.id)
            changes.append(.delete(entry.id))
        }
        try apply(changes)
        parts.counters.evicted(victims.count, because: reason)
        housekeeping.withLock { $0.sweep?.removed += victims.count }
        return !victims.isEmpty
    }

    private func stepRecords() throws(DiskCacheError) -> Bool {
        let excess = parts.counters.tally.records - parts.configuration.limits.maxSourceRecords
        guard excess > 0, housekeeping.withLock({ $0.loading == .done }) else { return false }
        let removed = try parts.index.deleteOldestRecords(limit: min(excess, batchSize))
        var change = DiskTally()
        change.records = -removed
        parts.counters.add(change)
        return removed > 0
    }

    private func stepTrash() throws(DiskCacheError) -> Bool {
        guard housekeeping.withLock({ $0.hasTrash }) else { return false }
        guard try parts.folder.emptyTrash() else {
            housekeeping.withLock { $0.hasTrash = false }
            return false
        }
        return true
    }
}
