// SPDX-License-Identifier: Apache-2.0

import Primitives
import Synchronization

/// Reads the index into memory after a start, some rows at a time: look-ups query the file system meanwhile.
///
/// On the queue, so nothing changes while rows are read.
extension DiskWriter {
    /// Rows that one step reads: about a millisecond.
    private static let rowsAtOnce = 1_000

    /// Whether the index has been read.
    var isLoaded: Bool { storage.index.state.countedRow == .max }

    /// Reads some more rows; false if all have been read. An index that can't be read is replaced by the next step.
    func stepLoad() -> Bool {
        guard !isLoaded else { return false }
        do {
            if storage.index.outdated.isComplete {
                try loadEntries()
            } else {
                lastOutdated = try storage.index.loadOutdated(after: lastOutdated, limit: Self.rowsAtOnce)
            }
        } catch {
            storage.counters.withLock { $0.readErrors += 1 }
            storage.report { $0.failed(with: .brokenIndex("\(error)"), at: $1) }
        }
        return true
    }

    private func loadEntries() throws(DiskCacheError) {
        let index = storage.index
        let rows = try index.entries(after: index.state.countedRow, limit: Self.rowsAtOnce)
        var tally = DiskTally()
        for entry in rows {
            storage.entries.insert(entry.id)
            tally.add(entries: 1, bytes: index.allocated(entry.bytes), of: entry.id.kind)
        }
        storage.counters.withLock { $0.tally += tally }
        if rows.count == Self.rowsAtOnce, let last = rows.last {
            return index.setCountedRow(last.row)
        }
        let records = try index.recordCount()
        storage.counters.withLock { $0.tally.records = records }
        index.releaseMemory()
        index.setCountedRow(.max)
        storage.measure()
        if scan.isComplete { storage.entries.markComplete() }
    }
}
