// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension DiskWriter {
    /// Reads everything that the index knows into memory; called once, on a thread that may block for seconds.
    ///
    /// The writer begins as soon as the index's state is fixed, so that what it changes is counted exactly once.
    func load() {
        do {
            var tally = DiskTally()
            tally.records = try parts.index.load(begun: begin) { id, bytes in
                parts.entries.insert(id)
                tally.add(entries: 1, bytes: bytes, of: id.kind)
            }
            parts.counters.add(tally)
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
        if housekeeping.withLock({ $0.names.isEmpty }) {
            let names = try parts.folder.names(in: shard.path)
            housekeeping.withLock { $0.names = names }
        }
        let limit = parts.configuration.limits.batchSize
        let some = housekeeping.withLock { Array($0.names.suffix(limit)) }
        // What could not be told to the index is looked at again.
        try adopt(some, in: shard)
        let isOver = housekeeping.withLock { state in
            state.names.removeLast(some.count)
            if state.names.isEmpty { state.scan.removeLast() }
            return state.scan.isEmpty
        }
        if isOver {
            parts.entries.markComplete()
            try parts.index.setKnowsAllFiles(true)
        }
        return true
    }

    private func adopt(_ names: [String], in shard: DiskFolder.Shard) throws(DiskCacheError) {
        var changes: [IndexChange] = []
        var adopted: [EntryID] = []
        for name in names {
            guard let key = EntryPath.key(ofName: name) else {
                try parts.folder.removeFile("\(shard.path)/\(name)")
                continue
            }
            let id = EntryID(kind: shard.kind, key: key)
            guard !parts.entries.hasSeen(id), let entry = try parts.adoption(of: id) else { continue }
            adopted.append(id)
            changes.append(.put(entry))
        }
        try apply(changes)
        for id in adopted { parts.entries.insert(id) }
    }
}
