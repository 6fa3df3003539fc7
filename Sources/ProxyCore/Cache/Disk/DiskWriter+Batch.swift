// SPDX-License-Identifier: Apache-2.0

import Bodies
import Freshness
import Primitives
import Synchronization

extension DiskWriter {
    /// What a batch has done to files and has yet to be written to the index.
    private struct Pending {
        var changes: [IndexChange] = []
        /// Entries whose files were named; removed again if the index can't be written.
        var linked: [EntryID] = []
        /// Tags that are known when the index is written.
        var links: [TagLink] = []
        var isDurable = false
        /// The length of the files that were named.
        var bytes: Int64 = 0
        var completions: [(completion: @Sendable (Result<Int, DiskCacheError>) -> Void, count: Int)] = []
    }

    /// Runs the jobs in their order, in one transaction, or in several if one needs to see the result of
    /// another.
    ///
    /// A process that is killed between a file's change and the transaction leaves a file without a row,
    /// which the next start finds by scanning the folder, or a row without a file, which is a miss.
    func run(_ batch: [WriteJob]) {
        if let error = parts.outage {
            for job in batch { runOff(job, because: error) }
            return
        }
        var pending = Pending()
        for job in batch {
            do throws(DiskCacheError) {
                try run(job, &pending)
            } catch {
                if error != .purged { parts.counters.failedToWrite() }
                parts.monitor.failed(with: error)
                job.completion?(.failure(error))
            }
        }
        commit(&pending)
        parts.measureIndex()
        if isOverSize { beginSweep(nil) }
    }

    private func run(_ job: WriteJob, _ pending: inout Pending) throws(DiskCacheError) {
        var count = 1
        switch job.task {
        case .commit(let entry, let file, let isDurable, let record, let token):
            guard token?.isValid ?? true else { throw .purged }
            try link(file, as: entry, isDurable, record, &pending)
        case .store(let write, let isDurable, let record, let token):
            guard token?.isValidForBody ?? true else { throw .purged }
            // A 304 may have come while it waited: the bytes are still right, the record is not.
            let isLatest = token?.isValid ?? true
            let (entry, file) = try parts.write(isLatest ? write : write.withoutRecord, durable: isDurable)
            try link(file, as: entry, isDurable, isLatest ? record : nil, &pending)
        case .secure(let entry, let identity): count = try secure(entry, identity, &pending) ? 1 : 0
        case .remove(let id, let reason): count = try remove(id, because: reason, &pending) ? 1 : 0
        case .discard(let id, let identity): count = try discard(id, identity, &pending) ? 1 : 0
        case .save(let record, let token, let isCurrent):
            guard token?.isValid ?? true else { throw .purged }
            if isCurrent() { pending.changes.append(.save(record, at: parts.clock())) }
        case .removeSource(let key): count = try removeSource(key, &pending)
        case .link(let links):
            pending.changes += links.map { .link($0, at: parts.clock()) }
            pending.links += links
        case .removeTag(let tag, let found): count = try removeTag(tag, found, &pending)
        case .removeAll(let keepingTags): count = try removeAll(keepingTags: keepingTags, &pending)
        case .sweep:
            commit(&pending)
            beginSweep(job.completion)
            return
        case .nothing: count = 0
        }
        if let completion = job.completion { pending.completions.append((completion, count)) }
    }

    private func link(
        _ file: OwnedDescriptor, as entry: IndexEntry, _ isDurable: Bool, _ record: SourceRecord?,
        _ pending: inout Pending
    ) throws(DiskCacheError) {
        try parts.folder.link(file, as: entry.id)
        parts.entries.insert(entry.id)
        pending.linked.append(entry.id)
        pending.bytes += entry.bytes
        pending.changes.append(.put(entry))
        if let record { pending.changes.append(.save(record, at: parts.clock())) }
        guard isDurable else { return }
        try parts.folder.syncNames(of: entry.id)
        pending.isDurable = true
    }

    private func secure(
        _ entry: IndexEntry, _ identity: VerifiedFiles.Identity, _ pending: inout Pending
    ) throws(DiskCacheError) -> Bool {
        guard try parts.folder.status(of: entry.id)?.identity == identity else { return false }
        try parts.folder.syncNames(of: entry.id)
        pending.changes.append(.put(entry))
        pending.isDurable = true
        return true
    }

    // MARK: - Removal

    /// Unlinks before the index is written: a purge that was answered has removed the file and committed the
    /// change.
    private func remove(
        _ id: EntryID, because reason: EvictionReason, _ pending: inout Pending
    ) throws(DiskCacheError) -> Bool {
        let existed = try parts.folder.unlink(id)
        parts.entries.remove(id)
        pending.changes.append(.delete(id))
        if existed || reason == .missing { parts.counters.evicted(because: reason) }
        return existed
    }

    private func discard(
        _ id: EntryID, _ identity: VerifiedFiles.Identity?, _ pending: inout Pending
    ) throws(DiskCacheError) -> Bool {
        // The damage was detected some time ago; a file that has replaced it since is not damaged.
        guard try parts.folder.status(of: id)?.identity == identity else { return false }
        return try remove(id, because: identity == nil ? .missing : .corrupt, &pending)
    }

    private func removeSource(_ key: CacheKey, _ pending: inout Pending) throws(DiskCacheError) -> Int {
        commit(&pending)
        // While the folder is scanned, the index does not know all files.
        try finishScan()
        // A file that should survive the purge no longer counts.
        parts.index.outdated.insert(key)
        // The original's place is known without the index.
        var count = try remove(EntryID(kind: .original, key: key), because: .purged, &pending) ? 1 : 0
        while true {
            let entries = try parts.index.entries(ofSource: key, limit: parts.configuration.limits.batchSize)
            for entry in entries where try remove(entry.id, because: .purged, &pending) { count += 1 }
            pending.changes.append(.deleteRecord(key))
            try writeIndex(&pending)
            if entries.isEmpty { return count }
        }
    }

    private func removeTag(
        _ tag: String, _ found: ([TagLink]) -> Void, _ pending: inout Pending
    ) throws(DiskCacheError) -> Int {
        commit(&pending)
        var count = 0
        while true {
            let links = try parts.index.links(ofTag: tag, limit: parts.configuration.limits.batchSize)
            guard !links.isEmpty else { return count }
            // Before everything else: a request from now on writes its links again, after this.
            parts.tags.remove(links)
            found(links)
            count += try purge(links, &pending)
        }
    }

    private func purge(_ links: [TagLink], _ pending: inout Pending) throws(DiskCacheError) -> Int {
        var count = 0
        for source in Set(links.map(\.source)) { count += try markStale(source, &pending) }
        for link in links {
            for kind in EntryKind.allCases where kind.isResult {
                let id = EntryID(kind: kind, key: link.result)
                if try remove(id, because: .purged, &pending) { count += 1 }
            }
            pending.changes.append(.unlink(link))
        }
        try writeIndex(&pending)
        return count
    }

    /// Removes links for which there is no space, and purges their results, in memory too.
    func purge(_ links: [TagLink]) throws(DiskCacheError) {
        var pending = Pending()
        // Before everything else: a request from now on writes its links again, after this.
        parts.tags.remove(links)
        let unlinked = parts.observers.withLock(\.unlinked)
        unlinked(links, false)
        defer { unlinked(links, true) }
        _ = try purge(links, &pending)
    }

    /// Makes a source stale until its origin has confirmed it; returns how many entries are removed for that.
    ///
    /// In the transaction that removes the tag's links: a purge that is interrupted before it finds them
    /// again when it is repeated.
    private func markStale(_ source: CacheKey, _ pending: inout Pending) throws(DiskCacheError) -> Int {
        guard var record = try parts.index.record(for: source) else {
            // The records in its files must not count either.
            return try removeSource(source, &pending)
        }
        record.directives.insert(.purged)
        pending.changes.append(.save(record, at: parts.clock()))
        return 0
    }

    private func removeAll(
        keepingTags: Bool, _ pending: inout Pending
    ) throws(DiskCacheError) -> Int {
        commit(&pending)
        if !keepingTags { parts.tags.removeAll() }
        let count = max(0, parts.counters.tally.entries)
        try discardEverything()
        parts.entries.removeAll()
        pending.changes.append(.deleteEverything(keepingTags: keepingTags))
        try writeIndex(&pending)
        parts.counters.resetTally()
        parts.counters.evicted(count, because: .purged)
        housekeeping.withLock { $0.hasTrash = true }
        return count
    }

    /// Frees space for the folder that everything is moved into: what is removed for that is to be removed
    /// anyway.
    private func discardEverything() throws(DiskCacheError) {
        do {
            try parts.folder.discardEverything()
        } catch .full {
            _ = parts.ballast.release()
            try parts.folder.freeSpace(for: 1)
            try parts.folder.discardEverything()
        }
    }

    // MARK: - The index

    /// Writes the index and calls the completions; files whose rows can't be written are removed again.
    private func commit(_ pending: inout Pending) {
        let completions = pending.completions
        pending.completions = []
        let linked = pending.linked
        do throws(DiskCacheError) {
            try writeIndex(&pending)
            for (completion, count) in completions { completion(.success(count)) }
        } catch {
            parts.counters.failedToWrite(max(1, completions.count))
            parts.monitor.failed(with: error)
            // A broken index is rebuilt from the files: those stay, and are found then.
            if case .brokenIndex = error {} else { unlink(linked) }
            for (completion, _) in completions { completion(.failure(error)) }
        }
    }

    private func unlink(_ entries: [EntryID]) {
        for id in entries {
            parts.entries.remove(id)
            // Lost: why the file can't be removed; it is correct and can be read, but only the next commit
            // removes it.
            _ = try? parts.folder.unlink(id)
        }
    }

    private func writeIndex(_ pending: inout Pending) throws(DiskCacheError) {
        let all = pending
        pending = Pending(completions: all.completions)
        try apply(all.changes, durable: all.isDurable)
        if !all.links.isEmpty { parts.tags.insert(all.links) }
        if all.bytes > 0 { parts.monitor.stored(all.bytes) }
    }

    /// Makes changes in the index; on a full disk a second time, in the space of the ballast.
    func apply(_ changes: [IndexChange], durable: Bool = false) throws(DiskCacheError) {
        guard !changes.isEmpty else { return }
        do {
            parts.counters.add(try parts.index.apply(changes, durable: durable))
        } catch .full where parts.ballast.release() {
            parts.counters.add(try parts.index.apply(changes, durable: durable))
        }
    }
}
