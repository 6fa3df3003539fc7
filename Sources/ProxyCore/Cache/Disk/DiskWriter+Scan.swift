// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension DiskWriter {
    /// Reads everything that the index knows into memory; called once, on a thread that may block for seconds.
    ///
    /// The writer begins as soon as the index's state is fixed, so that what it changes is counted exactly once.
    func load() {
        guard !parts.isOff else {
            housekeeping.withLock { $0.loading = .done }
            parts.entries.markComplete()
            return begin()
        }
        do {
            var tally = DiskTally()
            tally.records = try parts.index.load(begun: begin) { id, bytes in
                parts.entries.insert(id)
                tally.add(entries: 1, bytes: parts.index.allocated(bytes), of: id.kind)
            }
            parts.counters.add(tally)
            parts.measure()
        } catch {
            // The set stays incomplete then: every look-up asks the file system, until there is another index.
            parts.counters.failedToRead()
            housekeeping.withLock { $0.loading = .failed }
            parts.monitor.failed(with: .brokenIndex("\(error)"))
            begin()
            wake()
            return
        }
        let isAllKnown = housekeeping.withLock { state in
            state.loading = .done
            return state.scan.isEmpty
        }
        if isAllKnown { parts.entries.markComplete() }
        wake()
    }

    /// Looks through some more files of a folder that the index may not know all of; false when there are none.
    func stepScan() throws(DiskCacheError) -> Bool {
        guard let shard = housekeeping.withLock({ $0.loading == .done ? $0.scan.last : nil }) else {
            return false
        }
        do throws(DiskCacheError) {
            try step(through: shard)
        } catch  where error.isOfOneFile {
            housekeeping.withLock { state in
                state.names = []
                state.scan.removeLast()
            }
            postpone(shard, because: error)
        }
        let isOver = housekeeping.withLock { $0.scan.isEmpty && $0.unreadable.isEmpty }
        if isOver {
            parts.entries.markComplete()
            try parts.index.setKnowsAllFiles(true)
        }
        return true
    }

    private func step(through shard: DiskFolder.Shard) throws(DiskCacheError) {
        if housekeeping.withLock({ $0.names.isEmpty }) {
            let names = try parts.folder.names(in: shard.path)
            housekeeping.withLock { $0.names = names }
        }
        let limit = parts.configuration.limits.batchSize
        let some = housekeeping.withLock { Array($0.names.suffix(limit)) }
        // What could not be told to the index is looked at again.
        if let failure = try adopt(some, in: shard) { postpone(shard, because: failure) }
        housekeeping.withLock { state in
            state.names.removeLast(some.count)
            if state.names.isEmpty { state.scan.removeLast() }
        }
    }

    /// Has a folder looked through again after the next sweep: what can't be read must not keep the rest from being known,
    /// nor the tier from being swept.
    private func postpone(_ shard: DiskFolder.Shard, because error: DiskCacheError) {
        parts.counters.failedToRead()
        let isNews = housekeeping.withLock { state in
            defer { state.whyUnreadable = error }
            if state.unreadable.last?.path != shard.path { state.unreadable.append(shard) }
            return state.whyUnreadable == nil
        }
        if isNews { parts.monitor.failed(with: error) }
    }

    /// Looks through everything that is left, for whoever must not miss a file.
    /// - Throws: why a folder can't be looked through.
    func finishScan() throws(DiskCacheError) {
        while try stepScan() {}
        if let error = housekeeping.withLock({ $0.unreadable.isEmpty ? nil : $0.whyUnreadable }) {
            throw error
        }
    }

    /// Tells the index of files that it does not know; returns why some could not be read.
    private func adopt(
        _ names: [String], in shard: DiskFolder.Shard
    ) throws(DiskCacheError) -> DiskCacheError? {
        var failure: DiskCacheError?
        var changes: [IndexChange] = []
        var adopted: [EntryID] = []
        for name in names {
            do throws(DiskCacheError) {
                guard let key = EntryPath.key(ofName: name) else {
                    try parts.folder.removeFile("\(shard.path)/\(name)")
                    continue
                }
                let id = EntryID(kind: shard.kind, key: key)
                guard !parts.entries.hasSeen(id), let entry = try parts.adoption(of: id) else { continue }
                adopted.append(id)
                changes.append(.put(entry))
            } catch  where error.isOfOneFile {
                failure = error
            }
        }
        try apply(changes)
        for id in adopted { parts.entries.insert(id) }
        return failure
    }
}
