// SPDX-License-Identifier: Apache-2.0

extension DiskCache {
    /// Hot path: whether the tier may hold the entry; "no" is certain, and costs no system call.
    public func mayContain(_ key: CacheKey, kind: EntryKind) -> Bool {
        let id = EntryID(kind: kind, key: key)
        return parts.entries.mayContain(id) || drafts.contains(id)
            || seeds.contains { $0.entries.mayContain(id) }
    }

    /// Hot path: looks an entry up with what the kernel has in memory, and waits for nothing.
    ///
    /// A handful of system calls; the body is read once after each start to be checked, on this thread only up to
    /// `limits.maxVerifyNow`. A call that fails is `wouldBlock`: the look-up that waits will say why.
    public func lookUpNow(_ key: CacheKey, kind: EntryKind, keyText: String) -> DiskLookUp {
        let id = EntryID(kind: kind, key: key)
        // Lost: the error; `lookUp` meets it again and throws it.
        let outcome = (try? find(id, keyText: keyText, fromMemory: true)) ?? .wouldBlock
        count(outcome, id)
        return outcome
    }

    /// Looks an entry up; nil when there is none.
    /// - Throws: `overloaded` when too many look-ups wait for the disk, or too many files are open (503); what went wrong with
    ///   the file system.
    public func lookUp(
        _ key: CacheKey, kind: EntryKind, keyText: String
    ) async throws(DiskCacheError) -> DiskHit? {
        switch lookUpNow(key, kind: kind, keyText: keyText) {
        case .hit(let hit): return hit
        case .miss: return nil
        case .wouldBlock: return try await lookUpOnDisk(EntryID(kind: kind, key: key), keyText: keyText)
        }
    }

    private func lookUpOnDisk(_ id: EntryID, keyText: String) async throws(DiskCacheError) -> DiskHit? {
        do {
            let outcome = try await readers.run { () throws(DiskCacheError) in
                try self.find(id, keyText: keyText, fromMemory: false)
            }
            count(outcome, id)
            guard case .hit(let hit) = outcome else { return nil }
            return hit
        } catch {
            if error != .overloaded { parts.counters.failedToRead() }
            throw error
        }
    }

    func count(_ outcome: DiskLookUp, _ id: EntryID) {
        switch outcome {
        case .hit: countHit(id)
        case .miss: parts.counters.lookedUp(id.kind, isHit: false)
        case .wouldBlock: break
        }
    }

    func countHit(_ id: EntryID) {
        parts.counters.lookedUp(id.kind, isHit: true)
        touch(id, at: parts.clock())
    }

    // MARK: - On whichever thread

    func find(_ id: EntryID, keyText: String, fromMemory: Bool) throws(DiskCacheError) -> DiskLookUp {
        let own = try findOwn(id, keyText: keyText, fromMemory: fromMemory)
        guard case .miss = own, !seeds.isEmpty else { return own }
        return try findSeeded(id, keyText: keyText, fromMemory: fromMemory)
    }

    private func findOwn(
        _ id: EntryID, keyText: String, fromMemory: Bool
    ) throws(DiskCacheError) -> DiskLookUp {
        if let hit = drafts.hit(id, keyText) { return .hit(hit) }
        guard parts.entries.mayContain(id) else { return .miss }
        switch try parts.folder.open(id, fromMemory: fromMemory, countedBy: parts.bodies) {
        case .missing:
            forgetMissing(id)
            return .miss
        case .wouldBlock: return .wouldBlock
        case .file(let file):
            let file = EntryFile(file: file, status: try parts.folder.status(of: file))
            switch try read(file, as: id, keyText: keyText, fromMemory: fromMemory) {
            case .entry(let hit): return .hit(hit)
            case .foreign: return .miss
            case .wouldBlock: return .wouldBlock
            case .damaged:
                discard(id, file)
                return .miss
            }
        }
    }

    /// What a file turned out to be.
    enum ReadFile {
        /// The entry that was looked for.
        case entry(DiskHit)
        /// Another entry with the same key.
        case foreign
        /// Nothing to answer with.
        case damaged
        /// Nobody can tell without waiting for the disk.
        case wouldBlock
    }

    func read(
        _ file: EntryFile, as id: EntryID, keyText: String, fromMemory: Bool
    ) throws(DiskCacheError) -> ReadFile {
        let entry: DiskEntry
        switch try file.header(fromMemory: fromMemory) {
        case .entry(let found) where found.id == id: entry = found
        case .entry, .invalid: return .damaged
        case .wouldBlock: return .wouldBlock
        }
        // Two texts with one key: the file is sound, and somebody else's.
        guard entry.description.keyText == keyText else { return .foreign }
        switch try check(entry, file, fromMemory: fromMemory) {
        case .passed: break
        case .failed: return .damaged
        case .wouldBlock: return .wouldBlock
        }
        let body = StoredBody.file(file.file, offset: entry.bodyOffset, length: entry.bodyLength)
        var hit = DiskHit(description: entry.description, body: body, checksum: entry.bodyChecksum)
        hit.record = believed(entry)
        hit.identity = file.status.identity
        return .entry(hit)
    }

    private func check(
        _ entry: DiskEntry, _ file: EntryFile, fromMemory: Bool
    ) throws(DiskCacheError) -> EntryFile.Check {
        if parts.verified.contains(file.status.identity) {
            guard fromMemory else { return .passed }
            return try file.isInMemory(entry) ? .passed : .wouldBlock
        }
        let limit = Int64(parts.configuration.limits.maxVerifyNow.bytes)
        guard !fromMemory || entry.bodyLength <= limit else { return .wouldBlock }
        let outcome = try file.check(entry, fromMemory: fromMemory)
        if case .passed = outcome { parts.verified.insert(file.status.identity) }
        return outcome
    }

    /// Whether the bytes of a hit are still those that were checked; else its entry is removed as damaged.
    ///
    /// One fstat(2), unless something has happened to the file; what only its name did has it read once more.
    public func isUnaltered(_ hit: DiskHit) async -> Bool {
        guard let identity = hit.identity, case .file(let file, let offset, let length) = hit.body,
            VerifiedFiles.Identity(of: file) != identity
        else { return true }
        // Lost: that it can't be read any more, which is as good as altered.
        let checksum = try? await readers.run { () throws(DiskCacheError) in
            let entry = EntryFile(file: file, status: try DiskFolder.status(of: file))
            return try entry.checksum(of: length, from: offset, fromMemory: false)
        }
        if let checksum, checksum == hit.checksum { return true }
        let description = hit.description
        if !hit.isSeeded, let now = VerifiedFiles.Identity(of: file) {
            writer.enqueue(.discard(EntryID(kind: description.kind, key: description.key), now))
        }
        return false
    }

    private func discard(_ id: EntryID, _ file: EntryFile) {
        writer.enqueue(.discard(id, file.status.identity))
    }

    private func forgetMissing(_ id: EntryID) {
        // Not yet known to be there: then there is nothing to forget either.
        guard parts.entries.hasSeen(id) else { return }
        writer.enqueue(.discard(id, nil))
    }
}
