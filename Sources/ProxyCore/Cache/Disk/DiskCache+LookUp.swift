// SPDX-License-Identifier: Apache-2.0

package import Bodies
package import Freshness
package import Primitives
import Synchronization

/// An entry that was found on disk, its body checked.
package struct DiskHit: Sendable {
    /// The description of the entry's bytes.
    package let description: EntryDescription
    /// The bytes: a range of an open file, which stays unchanged although the entry is replaced or removed,
    /// or a copy.
    package let body: StoredBody
    /// The record of its source, if memory or the entry's file has one of this content; the file's lacks what
    /// only a revalidation needs, so it is never saved.
    package internal(set) var record: SourceRecord?
    /// The file that the bytes are in, as it was when they were checked; nil for bytes in memory.
    package internal(set) var file: CheckedFile?
    /// Whether it lies in a read-only folder; entries of those are always read as open files.
    package var isReadOnly: Bool { file?.isReadOnly == true }

    /// An open file whose body was what had been stored.
    package struct CheckedFile: Sendable {
        let id: EntryID
        let file: OwnedDescriptor
        /// Where the body is.
        let range: Range<Int64>
        /// The CRC32C of the body.
        let checksum: UInt32
        let identity: VerifiedFiles.Identity
        let isReadOnly: Bool
    }
}

/// How a look-up reads, and what it returns.
///
/// One value: with an enum of what is returned beside a Bool, the optimized code of Swift 6.3.1 wrote beyond the frame of the
/// asynchronous caller, which only a release showed.
package struct DiskLookUpMode: Sendable {
    /// Whether it reads only what the kernel has in memory, and throws `wouldBlock` for the rest.
    var fromMemory = false
    /// Whether a body stays in its open file, however short; else a short one is copied.
    var asFile = false
    /// Whether it looks in read-only folders, too.
    var inReadOnlyFolders = false

    /// On an event loop: the tier's own entry, as far as it is in memory.
    package static func cached(asFile: Bool = false) -> DiskLookUpMode {
        DiskLookUpMode(fromMemory: true, asFile: asFile)
    }
    /// On a thread that may wait for the disk: the tier's own entry; a short body is copied.
    package static let copied = DiskLookUpMode()
    /// The same as an open file, from a read-only folder, too.
    package static let inAnyFile = DiskLookUpMode(asFile: true, inReadOnlyFolders: true)
    static let inAnyFileInMemory = DiskLookUpMode(
        fromMemory: true, asFile: true, inReadOnlyFolders: true)
}

/// The one way to an entry: the write buffer, the tier's own file, files of read-only folders; each body is
/// checked.
extension DiskCache {
    /// A file shorter than this is read at once, header and body, and answered from the copy: sendfile(2)
    /// costs more.
    private static let copiedLength: Int64 = 16 << 10

    /// Hot path: whether the tier may contain the entry; "no" is certain, and costs no system call.
    package func mayContain(_ key: CacheKey, kind: EntryKind) -> Bool {
        let id = EntryID(kind: kind, key: key)
        return storage.entries.mayContain(id) || buffer.contains(id)
            || readOnlyFolders.contains { $0.entries.mayContain(id) }
    }

    /// Looks an entry up, in read-only folders, too, and counts that; nil if there is none.
    /// - Parameters:
    ///   - key, kind, keyText: the entry.
    ///   - client: the client whose turn it takes where it has to wait for the disk.
    /// - Throws: `overloaded` if too many look-ups wait for the disk, or too many files are open (503); what
    ///   went wrong with the file system.
    package func lookUp(
        _ key: CacheKey, kind: EntryKind, keyText: String, for client: ClientID? = nil
    ) async throws(DiskCacheError) -> DiskHit? {
        let hit: DiskHit?
        do throws(DiskCacheError) {
            hit = try find(key, kind, keyText, .inAnyFileInMemory)
        } catch {
            // The blocking read meets any other error again.
            hit = try await findOnIOThread(key, kind, keyText, .inAnyFile, for: client)
        }
        if let hit { countHit(hit) } else { countMiss(kind) }
        return hit
    }

    /// Hot path: looks an entry up with a handful of system calls; the caller counts the hit that it uses.
    ///
    /// The body is read once after each start to be checked; from memory only up to `limits.maxVerifyNow`.
    /// - Throws: `wouldBlock`, and what went wrong with the file system.
    package func find(
        _ key: CacheKey, _ kind: EntryKind, _ keyText: String, _ mode: DiskLookUpMode
    ) throws(DiskCacheError) -> DiskHit? {
        let id = EntryID(kind: kind, key: key)
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

    /// The same on a thread that may wait for the disk; neither counted nor noted as a use.
    package func findOnIOThread(
        _ key: CacheKey, _ kind: EntryKind, _ keyText: String, _ mode: DiskLookUpMode,
        for client: ClientID? = nil
    ) async throws(DiskCacheError) -> DiskHit? {
        guard mayContain(key, kind: kind) else { return nil }
        return try await onIOThread(for: client) { () throws(DiskCacheError) in
            try self.find(key, kind, keyText, mode)
        }
    }

    /// Runs a read, or what a store does before its turn on the writer's thread, on a thread of the I/O queue, and counts a failure.
    /// - Parameters:
    ///   - queue: nil for the one that reads files.
    ///   - client: the client whose turn it takes; nil for the daemon itself.
    func onIOThread<Value: Sendable>(
        _ queue: IOQueue<DiskCacheError>? = nil, for client: ClientID? = nil, isStore: Bool = false,
        _ work: @escaping @Sendable () throws(DiskCacheError) -> Value
    ) async throws(DiskCacheError) -> Value {
        do {
            return try await (queue ?? ioThreads).run(for: client, work)
        } catch {
            if isStore {
                failed(with: error)
            } else if error != .overloaded {
                storage.counters.withLock { $0.readErrors += 1 }
            }
            throw error
        }
    }

    /// Hot path: counts a hit that is sent, and records the access.
    package func countHit(_ hit: DiskHit) {
        countHit(hit.description.kind)
        recordAccess(hit.description.key, kind: hit.description.kind)
    }

    /// Hot path: counts a hit that an open file answered.
    package func countHit(_ kind: EntryKind) { storage.counters.withLock { $0.lookedUp(kind, isHit: true) } }

    /// Counts a look-up that was not worth trying.
    package func countMiss(_ kind: EntryKind) {
        storage.counters.withLock { $0.lookedUp(kind, isHit: false) }
    }

    // MARK: - On any thread

    /// - Parameter other: a read-only folder; nil for the tier's own.
    private func find(
        _ id: EntryID, _ keyText: String, in other: ReadOnlyFolder?, _ mode: DiskLookUpMode
    ) throws(DiskCacheError) -> DiskHit? {
        guard (other?.entries ?? storage.entries).mayContain(id) else { return nil }
        let folder = other?.folder ?? storage.folder
        guard let file = try folder.open(id, fromMemory: mode.fromMemory, countedBy: storage.bodies) else {
            forget(id, nil, in: other)
            return nil
        }
        guard let (entry, body, identity) = try read(file, keyText, mode), entry.id == id else {
            forget(id, try file.identity(), in: other)
            return nil
        }
        // Two texts with one key: the file is sound, and another text's.
        guard entry.description.keyText == keyText else { return nil }
        var hit = DiskHit(description: entry.description, body: body)
        if let identity, case .file(let file, let offset, let length) = body {
            hit.file = DiskHit.CheckedFile(
                id: id, file: file, range: offset..<offset + length, checksum: entry.bodyChecksum,
                identity: identity, isReadOnly: other != nil)
        }
        if other == nil {
            hit.record = record(
                of: entry.description, orElse: entry.record(of: storage.index.state.generation))
        }
        return hit
    }

    /// The entry of a file, its body checked; nil if any part of it is invalid.
    private func read(
        _ file: OwnedDescriptor, _ keyText: String, _ mode: DiskLookUpMode
    ) throws(DiskCacheError) -> (DiskEntry, StoredBody, VerifiedFiles.Identity?)? {
        var beginning: [UInt8]?
        if !mode.asFile {
            // A file that is shorter needs no other call.
            let bytes = try file.read(EntryFile.firstRead, at: 0, fromMemory: mode.fromMemory, once: true)
            if bytes.count < EntryFile.firstRead { return copied(bytes, keyText) }
            beginning = bytes
        }
        let opened = try EntryFile(file)
        if !mode.asFile, opened.identity.size < Self.copiedLength {
            let length = max(0, Int(opened.identity.size))
            return copied(try file.read(length, at: 0, fromMemory: mode.fromMemory), keyText)
        }
        guard let entry = try opened.header(beginning, expecting: keyText, fromMemory: mode.fromMemory),
            try isSound(entry, opened, fromMemory: mode.fromMemory)
        else { return nil }
        let body = StoredBody.file(file, offset: entry.bodyOffset, length: entry.bodyLength)
        return (entry, body, opened.identity)
    }

    private func copied(
        _ file: [UInt8], _ keyText: String
    ) -> (DiskEntry, StoredBody, VerifiedFiles.Identity?)? {
        DiskEntry.parse(file: file, expecting: keyText).map { ($0.entry, .bytes($0.body), nil) }
    }

    private func isSound(
        _ entry: DiskEntry, _ file: EntryFile, fromMemory: Bool
    ) throws(DiskCacheError) -> Bool {
        if storage.verified.contains(file.identity) {
            // If its end is in memory, so, most likely, is all of it.
            if fromMemory, entry.bodyLength > 0 {
                _ = try file.file.read(1, at: entry.fileLength - 1, fromMemory: true)
            }
            return true
        }
        let limit = Int64(storage.configuration.limits.maxVerifyNow.bytes)
        guard !fromMemory || entry.bodyLength <= limit else { throw .wouldBlock }
        let checksum = try file.checksum(entry.bodyOffset..<entry.fileLength, fromMemory: fromMemory)
        guard checksum == entry.bodyChecksum else { return false }
        storage.verified.insert(file.identity)
        return true
    }

    /// The record of an entry's source without the index; nil if only the index has it.
    /// - Parameter own: the file's own record, as of the present generation.
    private func record(
        of entry: EntryDescription, orElse own: @autoclosure () -> SourceRecord?
    ) -> SourceRecord? {
        let record =
            storage.records.record(for: entry.sourceKey)
            ?? (storage.index.outdated.mayContain(entry.sourceKey) ? nil : own())
        return record?.contentHash == entry.sourceHash ? record : nil
    }

    /// Whether the bytes of a hit are still those that were checked; else its entry is removed as damaged.
    ///
    /// One fstat(2), unless the file's inode has changed; a change of its name alone makes it be read once
    /// more.
    package func isUnaltered(_ checked: DiskHit.CheckedFile, for client: ClientID? = nil) async -> Bool {
        guard VerifiedFiles.Identity(of: checked.file) != checked.identity else { return true }
        // Ignored: that it can't be read any more, which counts as altered.
        let checksum = try? await onIOThread(for: client) { () throws(DiskCacheError) in
            try EntryFile(checked.file).checksum(checked.range, fromMemory: false)
        }
        if let checksum, checksum == checked.checksum { return true }
        if !checked.isReadOnly, let now = VerifiedFiles.Identity(of: checked.file) {
            discard(checked.id, now)
        }
        return false
    }

    /// - Parameter identity: that of the damaged file; nil if it is missing.
    private func forget(_ id: EntryID, _ identity: VerifiedFiles.Identity?, in other: ReadOnlyFolder?) {
        if let other {
            if identity != nil { storage.counters.withLock { $0.corrupt += 1 } }
            other.entries.remove(id)
        } else if identity != nil || storage.entries.contains(id) {
            // A missing entry that is not known yet need not be removed.
            discard(id, identity)
        }
    }

    /// Removes an entry whose file is damaged, or missing (nil), if that is still so when the writer comes to it: a file that
    /// has replaced it since is not damaged.
    func discard(_ id: EntryID, _ identity: VerifiedFiles.Identity?) {
        writer.enqueue { [storage] (writer, batch) throws(DiskCacheError) in
            guard !storage.isOff, try storage.folder.identity(of: id) == identity else { return }
            // One that was never stored may have the bits of another one in the set.
            if identity == nil, try !storage.index.contains(id) { return }
            _ = try writer.remove(id, because: identity == nil ? .missing : .corrupt, &batch)
        }
    }
}
