// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension DiskWriter {
    /// What a batch has done to files and has yet to tell the index.
    private struct Pending {
        var changes: [IndexChange] = []
        /// Entries whose files were named; unnamed again when the index cannot be told.
        var linked: [EntryID] = []
        /// Tags that are known when the index is told.
        var links: [TagLink] = []
        var isDurable = false
        /// The length of the files that were named.
        var bytes: Int64 = 0
        var completions: [(completion: @Sendable (Result<Int, DiskCacheError>) -> Void, count: Int)] = []
    }

    /// Does the jobs in their order, in one transaction, or in several where one needs to see what another did.
    func run(_ batch: [WriteJob]) {
        if let error = parts.outage {
            for job in batch { runOff(job, because: error) }
            return
        }
        var pending = Pending()
        do {
            try announce(batch)
        } catch {
            parts.counters.failedToWrite(batch.count)
            parts.monitor.failed(with: error)
            for job in batch { job.completion?(.failure(error)) }
            return
        }
        for job in batch {
            do throws(DiskCacheError) {
                try run(job, &pending)
            } catch {
                if error != .purged { parts.counters.failedToWrite() }
                parts.monitor.failed(with: error)
                job.completion?(.failure(error))
            }
        }
        settle(&pending)
        parts.measureIndex()
        if isOverSize { beginSweep(nil) }
    }

    /// Writes down which entries the batch is about to name, before it does.
    private func announce(_ batch: [WriteJob]) throws(DiskCacheError) {
        var block = CommitJournal.Block()
        for job in batch {
            if let id = job.task.named { block.entries.append(id) }
        }
        if !block.entries.isEmpty { try parts.journal.write(block) }
    }

    private func run(_ job: WriteJob, _ pending: inout Pending) throws(DiskCacheError) {
        var count = 1
        switch job.task {
        case .commit(let entry, let file, let isDurable, let record, let permit):
            guard permit?.isValid ?? true else { throw .purged }
            try commit(entry, file, isDurable, record, &pending)
        case .store(let draft, let isDurable, let record, let permit):
            guard permit?.isValidForBody ?? true else { throw .purged }
            // A 304 may have come while it waited: the bytes are still right, what was known of them is not.
            let isLatest = permit?.isValid ?? true
            let (entry, file) = try parts.write(isLatest ? draft : draft.withoutRecord, durable: isDurable)
            try commit(entry, file, isDurable, isLatest ? record : nil, &pending)
        case .secure(let entry, let identity): count = try secure(entry, identity, &pending) ? 1 : 0
        case .remove(let id, let reason): count = try remove(id, because: reason, &pending) ? 1 : 0
        case .discard(let id, let identity): count = try discard(id, identity, &pending) ? 1 : 0
        case .save(let record, let permit):
            guard permit?.isValid ?? true else { throw .purged }
            pending.changes.append(.save(record, at: parts.clock()))
        case .saveLate(let record, let permit, let isCurrent):
            guard permit?.isValid ?? true else { throw .purged }
            guard isCurrent() else { break }
            pending.changes.append(.save(record, at: parts.clock()))
        case .removeRecord(let key): pending.changes.append(.deleteRecord(key))
        case .removeSource(let key): count = try removeSource(key, &pending)
        case .link(let links):
            pending.changes += links.map { .link($0, at: parts.clock()) }
            pending.links += links
        case .removeTag(let tag, let found): count = try removeTag(tag, found, &pending)
        case .removeAll(let keepingTags): count = try removeAll(keepingTags: keepingTags, &pending)
        case .sweep:
            settle(&pending)
            beginSweep(job.completion)
            return
        case .nothing: count = 0
        }
        if let completion = job.completion { pending.completions.append((completion, count)) }
    }

    private func commit(
        _ entry: IndexEntry, _ file: OwnedDescriptor, _ isDurable: Bool, _ record: SourceRecord?,
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

    /// Unlinks first and tells the index later: a crash in between leaves a row without a file, which is a miss.
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
        // Whoever saw the damage saw it some time ago; a file that has taken the place since is not damaged.
        guard try parts.folder.status(of: id)?.identity == identity else { return false }
        return try remove(id, because: identity == nil ? .missing : .corrupt, &pending)
    }

    private func removeSource(_ key: CacheKey, _ pending: inout Pending) throws(DiskCacheError) -> Int {
        settle(&pending)
        // While files are looked through, the index does not know them all.
        try finishScan()
        // A file that should outlive the purge is believed no more.
        parts.index.superseded.insert(key)
        // The original's place is known without the index.
        var count = try remove(EntryID(kind: .original, key: key), because: .purged, &pending) ? 1 : 0
        while true {
            let entries = try parts.index.entries(ofSource: key, limit: parts.configuration.limits.batchSize)
            for entry in entries where try remove(entry.id, because: .purged, &pending) { count += 1 }
            pending.changes.append(.deleteRecord(key))
            try tellIndex(&pending)
            if entries.isEmpty { return count }
        }
    }

    private func removeTag(
        _ tag: String, _ found: ([TagLink]) -> Void, _ pending: inout Pending
    ) throws(DiskCacheError) -> Int {
        settle(&pending)
        var count = 0
        while true {
            let links = try parts.index.links(ofTag: tag, limit: parts.configuration.limits.batchSize)
            guard !links.isEmpty else { return count }
            // First of all: who asks from now on writes them again, behind this.
            parts.tags.remove(links)
            found(links)
            count += try purge(links, &pending)
        }
    }

    private func purge(_ links: [TagLink], _ pending: inout Pending) throws(DiskCacheError) -> Int {
        var count = 0
        for source in Set(links.map(\.source)) { count += try distrust(source, &pending) }
        for link in links {
            for kind in EntryKind.allCases where kind.isResult {
                let id = EntryID(kind: kind, key: link.result)
                if try remove(id, because: .purged, &pending) { count += 1 }
            }
            pending.changes.append(.unlink(link))
        }
        try tellIndex(&pending)
        return count
    }

    /// Forgets links that there is no room for, and purges what hangs on them, in memory too.
    func purge(_ links: [TagLink]) throws(DiskCacheError) {
        var pending = Pending()
        // First of all: who asks from now on writes them again, behind this.
        parts.tags.remove(links)
        parts.tellUnlinked(links, isDone: false)
        defer { parts.tellUnlinked(links, isDone: true) }
        _ = try purge(links, &pending)
    }

    /// Has the origin asked about a source before it is answered from again; returns how many entries go for that.
    ///
    /// With what forgets the tag's links, and never behind that: whoever is ended in between, or finds the disk full, is
    /// purged again, and must find them again.
    private func distrust(_ source: CacheKey, _ pending: inout Pending) throws(DiskCacheError) -> Int {
        guard var record = try parts.index.record(for: source) else {
            // What its files say of its freshness must not be believed either.
            return try removeSource(source, &pending)
        }
        record.directives.insert(.purged)
        pending.changes.append(.save(record, at: parts.clock()))
        return 0
    }

    private func removeAll(
        keepingTags: Bool, _ pending: inout Pending
    ) throws(DiskCacheError) -> Int {
        settle(&pending)
        if !keepingTags { parts.tags.removeAll() }
        let count = max(0, parts.counters.tally.entries)
        try parts.journal.write(CommitJournal.Block(removesEverything: true))
        try discardEverything()
        parts.entries.removeAll()
        pending.changes.append(.deleteEverything(keepingTags: keepingTags))
        try tellIndex(&pending)
        try parts.journal.write(CommitJournal.Block())
        parts.counters.resetTally()
        parts.counters.evicted(count, because: .purged)
        housekeeping.withLock { $0.hasTrash = true }
        return count
    }

    /// Makes room for the folder that all is moved into, where there is none: what is in the way is to go anyway.
    private func discardEverything() throws(DiskCacheError) {
        do {
            try parts.folder.discardEverything()
        } catch .full {
            _ = parts.ballast.release()
            try parts.folder.makeRoom(for: 1)
            try parts.folder.discardEverything()
        }
    }

    // MARK: - The index

    /// Tells the index and everybody who waits; what cannot be told is undone.
    private func settle(_ pending: inout Pending) {
        let completions = pending.completions
        pending.completions = []
        let linked = pending.linked
        do throws(DiskCacheError) {
            try tellIndex(&pending)
            for (completion, count) in completions { completion(.success(count)) }
        } catch {
            parts.counters.failedToWrite(max(1, completions.count))
            parts.monitor.failed(with: error)
            // A broken index is made anew from the files: those stay, and are found then.
            if case .brokenIndex = error {} else { undo(linked) }
            for (completion, _) in completions { completion(.failure(error)) }
        }
    }

    private func tellIndex(_ pending: inout Pending) throws(DiskCacheError) {
        let (changes, isDurable) = (pending.changes, pending.isDurable)
        let (bytes, links) = (pending.bytes, pending.links)
        (pending.changes, pending.linked, pending.isDurable, pending.bytes) = ([], [], false, 0)
        pending.links = []
        try apply(changes, durable: isDurable)
        if !links.isEmpty { parts.tags.insert(links) }
        if bytes > 0 { parts.monitor.stored(bytes) }
    }

    /// Makes changes in the index; on a full disk a second time, in the room that the ballast leaves.
    func apply(_ changes: [IndexChange], durable: Bool = false) throws(DiskCacheError) {
        guard !changes.isEmpty else { return }
        let revoked = parts.index.revocations.load(ordering: .acquiring)
        do {
            parts.counters.add(try parts.index.apply(changes, durable: durable))
        } catch .full where parts.ballast.release() {
            parts.counters.add(try parts.index.apply(changes, durable: durable))
        }
        // Behind the commit: whoever is killed in between leaves an index that lacks nothing.
        let revocations = parts.index.revocations.load(ordering: .acquiring)
        guard revocations != revoked else { return }
        try parts.revocations.write(revocations, durable: changes.contains(where: \.isPurge))
    }

    private func undo(_ linked: [EntryID]) {
        for id in linked {
            parts.entries.remove(id)
            // Lost: why the file can't be removed; it is right and can be read, but only the next commit removes it.
            _ = try? parts.folder.unlink(id)
        }
    }
}

extension WriteJob.Task {
    /// The entry whose file it names.
    fileprivate var named: EntryID? {
        switch self {
        case .commit(let entry, _, _, _, _): entry.id
        case .store(let draft, _, _, _): EntryID(kind: draft.description.kind, key: draft.description.key)
        default: nil
        }
    }
}
