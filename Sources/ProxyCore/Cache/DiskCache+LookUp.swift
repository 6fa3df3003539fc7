// SPDX-License-Identifier: Apache-2.0

/// An entry that was found on disk, its body checked.
package struct DiskHit: Sendable {
    /// The description of the entry's bytes.
    package let description: EntryDescription
    /// The bytes: a range of an open file, which stays unchanged although the entry is replaced or removed,
    /// or a copy.
    package let body: StoredBody
    /// The CRC32C of the bytes.
    package let checksum: UInt32
    /// The record of its source, if memory or the entry's file has one of this content; the file's lacks what
    /// only a revalidation needs. It is not to be stored.
    package internal(set) var record: SourceRecord?
    /// The identity of its file when the bytes were checked; nil for bytes in memory.
    var identity: VerifiedFiles.Identity?
    /// Whether it lies in a read-only folder.
    package internal(set) var isReadOnly = false
}

/// The result of a look-up that does not block.
package enum DiskLookUp: Sendable {
    /// Found.
    case hit(DiskHit)
    /// Not found, or an error that a blocking look-up meets again.
    case miss
    /// Reading it would block.
    case wouldBlock
}

/// The one way to an entry: the write buffer, the tier's own file, files of read-only folders; each body is
/// checked.
extension DiskCache {
    /// How a look-up reads, and what it returns.
    private struct Mode {
        /// Only from what the kernel has in memory; else it throws `wouldBlock`.
        var fromMemory = false
        /// Bodies stay in their open files, however short.
        var asFile = true
        /// Also looks in read-only folders.
        var inReadOnlyFolders = true
    }

    /// A file shorter than this is read at once, header and body, and answered from the copy: sendfile(2)
    /// costs more.
    private static let copiedLength: Int64 = 16 << 10
    /// The size of the first read, before the file's length is known: a shorter file needs no other call.
    private static let firstRead = 4 << 10

    /// Hot path: whether the tier may contain the entry; "no" is certain, and costs no system call.
    package func mayContain(_ key: CacheKey, kind: EntryKind) -> Bool {
        let id = EntryID(kind: kind, key: key)
        return parts.entries.mayContain(id) || buffer.contains(id)
            || readOnlyFolders.contains { $0.entries.mayContain(id) }
    }

    /// Looks an entry up, in read-only folders, too; nil if there is none.
    /// - Throws: `overloaded` if too many look-ups wait for the disk, or too many files are open (503); what
    ///   went wrong with the file system.
    package func lookUp(
        _ key: CacheKey, kind: EntryKind, keyText: String
    ) async throws(DiskCacheError) -> DiskHit? {
        let id = EntryID(kind: kind, key: key)
        do throws(DiskCacheError) {
            return count(try find(id, keyText, Mode(fromMemory: true)), id)
        } catch {
            // The blocking read meets the error again.
        }
        do throws(DiskCacheError) {
            let hit = try await readers.run { () throws(DiskCacheError) in
                try self.find(id, keyText, Mode())
            }
            return count(hit, id)
        } catch {
            if error != .overloaded { parts.counters.failedToRead() }
            throw error
        }
    }

    /// Hot path: looks an entry up with what the kernel has in memory; the caller counts the hit that it
    /// uses.
    ///
    /// A handful of system calls; the body is read once after each start to be checked, on this thread only
    /// up to `limits.maxVerifyNow`.
    /// - Parameter asFile: leave the bytes in the open file, however few, because it is kept open.
    package func lookUpCached(
        _ key: CacheKey, kind: EntryKind, keyText: String, asFile: Bool = false
    ) -> DiskLookUp {
        do throws(DiskCacheError) {
            let mode = Mode(fromMemory: true, asFile: asFile, inReadOnlyFolders: false)
            return try find(EntryID(kind: kind, key: key), keyText, mode).map(DiskLookUp.hit) ?? .miss
        } catch .wouldBlock {
            return .wouldBlock
        } catch {
            return .miss
        }
    }

    /// The same with waiting for the disk, on a reader's thread.
    package func lookUpBlocking(_ key: CacheKey, kind: EntryKind, keyText: String) async -> DiskHit? {
        let id = EntryID(kind: kind, key: key)
        // Lost: the error; the slow path meets it again.
        return try? await readers.run { () throws(DiskCacheError) in
            try self.find(id, keyText, Mode(asFile: false, inReadOnlyFolders: false))
        }
    }

    /// An entry as an open file; blocks.
    func findOnDisk(_ id: EntryID, _ keyText: String) throws(DiskCacheError) -> DiskHit? {
        try find(id, keyText, Mode())
    }

    private func count(_ hit: DiskHit?, _ id: EntryID) -> DiskHit? {
        if let hit { countHit(hit) } else { countMiss(id.kind) }
        return hit
    }

    /// Hot path: counts a hit that is sent, and records the access.
    package func countHit(_ hit: DiskHit) {
        countHit(hit.description.kind)
        noteAccess(EntryID(kind: hit.description.kind, key: hit.description.key))
    }

    /// Hot path: counts a hit that an open file answered.
    package func countHit(_ kind: EntryKind) { parts.counters.lookedUp(kind, isHit: true) }

    /// Counts a look-up that was not worth trying.
    package func countMiss(_ kind: EntryKind) { parts.counters.lookedUp(kind, isHit: false) }

    // MARK: - On any thread

    private func find(_ id: EntryID, _ keyText: String, _ mode: Mode) throws(DiskCacheError) -> DiskHit? {
        if var hit = buffer.hit(id, keyText) {
            hit.record = record(of: hit.description, orElse: hit.record)
            return hit
        }
        if let hit = try find(id, keyText, in: nil, mode) { return hit }
        guard mode.inReadOnlyFolders else { return nil }
        for folder in readOnlyFolders {
            if let hit = try find(id, keyText, in: folder, mode) { return hit }
        }
        return nil
    }

    /// - Parameter other: a read-only folder; nil for the tier's own.
    private func find(
        _ id: EntryID, _ keyText: String, in other: ReadOnlyFolder?, _ mode: Mode
    ) throws(DiskCacheError) -> DiskHit? {
        guard (other?.entries ?? parts.entries).mayContain(id) else { return nil }
        let folder = other?.folder ?? parts.folder
        guard let file = try folder.open(id, fromMemory: mode.fromMemory, countedBy: parts.bodies) else {
            forgetMissing(id, in: other)
            return nil
        }
        guard let (entry, body, identity) = try read(file, keyText, mode), entry.id == id else {
            try forgetDamaged(id, file, in: other)
            return nil
        }
        // Two texts with one key: the file is sound, and another text's.
        guard entry.description.keyText == keyText else { return nil }
        var hit = DiskHit(description: entry.description, body: body, checksum: entry.bodyChecksum)
        hit.identity = identity
        if other == nil { hit.record = record(of: entry.description, orElse: ownRecord(of: entry)) }
        hit.isReadOnly = other != nil
        return hit
    }

    /// The entry of a file, its body checked; nil if any part of it is invalid.
    private func read(
        _ file: OwnedDescriptor, _ keyText: String, _ mode: Mode
    ) throws(DiskCacheError) -> (DiskEntry, StoredBody, VerifiedFiles.Identity?)? {
        var beginning: [UInt8]?
        if !mode.asFile {
            let bytes = try file.readOnce(Self.firstRead, fromMemory: mode.fromMemory)
            if bytes.count < Self.firstRead { return copy(bytes, keyText) }
            beginning = bytes
        }
        let opened = EntryFile(file: file, status: try DiskFolder.status(of: file))
        if !mode.asFile, opened.status.size < Self.copiedLength {
            let length = max(0, Int(opened.status.size))
            return copy(try file.readOnce(length, fromMemory: mode.fromMemory), keyText)
        }
        guard let entry = try opened.header(beginning, expecting: keyText, fromMemory: mode.fromMemory),
            try isSound(entry, opened, fromMemory: mode.fromMemory)
        else { return nil }
        let body = StoredBody.file(file, offset: entry.bodyOffset, length: entry.bodyLength)
        return (entry, body, opened.status.identity)
    }

    private func copy(
        _ file: [UInt8], _ keyText: String
    ) -> (DiskEntry, StoredBody, VerifiedFiles.Identity?)? {
        guard let offset = DiskEntry.bodyOffset(inFixedPart: file[...]), offset <= file.count,
            let entry = DiskEntry(header: file[..<offset], expecting: keyText),
            entry.fileLength == file.count
        else { return nil }
        let body = Array(file[offset...])
        return Checksum.crc32c(body) == entry.bodyChecksum ? (entry, .bytes(body), nil) : nil
    }

    private func isSound(
        _ entry: DiskEntry, _ file: EntryFile, fromMemory: Bool
    ) throws(DiskCacheError) -> Bool {
        if parts.verified.contains(file.status.identity) {
            if fromMemory { try file.expectInMemory(entry) }
            return true
        }
        let limit = Int64(parts.configuration.limits.maxVerifyNow.bytes)
        guard !fromMemory || entry.bodyLength <= limit else { throw .wouldBlock }
        let checksum = try file.checksum(
            of: entry.bodyLength, from: entry.bodyOffset, fromMemory: fromMemory)
        guard checksum == entry.bodyChecksum else { return false }
        parts.verified.insert(file.status.identity)
        return true
    }

    /// The record of an entry's source without the index; nil if only the index can tell.
    private func record(
        of entry: EntryDescription, orElse own: @autoclosure () -> SourceRecord?
    ) -> SourceRecord? {
        let record =
            records.record(for: entry.sourceKey)
            ?? (parts.index.outdated.mayContain(entry.sourceKey) ? nil : own())
        return record?.contentHash == entry.sourceHash ? record : nil
    }

    /// A file's own record of its source, if it was written in the present generation.
    private func ownRecord(of entry: DiskEntry) -> SourceRecord? {
        guard let snapshot = entry.snapshot, snapshot.generation == parts.index.generation else { return nil }
        return snapshot.record(of: entry.description)
    }

    /// Whether the bytes of a hit are still those that were checked; else its entry is removed as damaged.
    ///
    /// One fstat(2), unless the file's inode has changed; a change of its name alone makes it be read once
    /// more.
    package func isUnaltered(_ hit: DiskHit) async -> Bool {
        guard let identity = hit.identity, case .file(let file, let offset, let length) = hit.body,
            VerifiedFiles.Identity(of: file) != identity
        else { return true }
        // Lost: that it can't be read any more, which counts as altered.
        let checksum = try? await readers.run { () throws(DiskCacheError) in
            let entry = EntryFile(file: file, status: try DiskFolder.status(of: file))
            return try entry.checksum(of: length, from: offset, fromMemory: false)
        }
        if let checksum, checksum == hit.checksum { return true }
        let description = hit.description
        if !hit.isReadOnly, let now = VerifiedFiles.Identity(of: file) {
            writer.enqueue(.discard(EntryID(kind: description.kind, key: description.key), now))
        }
        return false
    }

    private func forgetDamaged(
        _ id: EntryID, _ file: OwnedDescriptor, in other: ReadOnlyFolder?
    ) throws(DiskCacheError) {
        if let other {
            parts.counters.foundCorrupt()
            other.entries.remove(id)
        } else {
            writer.enqueue(.discard(id, try DiskFolder.status(of: file).identity))
        }
    }

    private func forgetMissing(_ id: EntryID, in other: ReadOnlyFolder?) {
        if let other {
            other.entries.remove(id)
        } else if parts.entries.hasSeen(id) {
            // An entry that is not known yet need not be removed.
            writer.enqueue(.discard(id, nil))
        }
    }
}
