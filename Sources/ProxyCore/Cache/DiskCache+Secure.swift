// SPDX-License-Identifier: Apache-2.0

extension DiskCache {
    /// Has an entry that lies on disk survive a loss of power, too; nothing is written anew.
    ///
    /// A file is synchronised once, as long as it is remembered that it was.
    ///
    /// - Returns: false when the entry on disk is not the one described, or there is none: then it has to be stored.
    /// - Throws: `overloaded` when too much waits; what went wrong with the file system.
    func secure(_ description: EntryDescription) async throws(DiskCacheError) -> Bool {
        do {
            return try await secureInPlace(description)
        } catch {
            failed(with: error)
            throw error
        }
    }

    private func secureInPlace(_ description: EntryDescription) async throws(DiskCacheError) -> Bool {
        let id = EntryID(kind: description.kind, key: description.key)
        let found = try await readers.run { () throws(DiskCacheError) -> (DiskHit, VerifiedFiles.Identity)? in
            guard
                case .hit(let hit) = try self.find(id, keyText: description.keyText, fromMemory: false),
                hit.description.contentHash == description.contentHash,
                hit.description.sourceHash == description.sourceHash,
                case .file(let file, _, _) = hit.body
            else { return nil }
            let identity = try self.parts.folder.status(of: file).identity
            if !hit.isSeeded, !self.parts.secured.contains(identity) { try file.sync() }
            return (hit, identity)
        }
        guard let (hit, identity) = found else { return false }
        guard !hit.isSeeded, !parts.secured.contains(identity),
            case .file(_, let offset, let length) = hit.body
        else { return true }
        let entry = IndexEntry(
            id: id, sourceKey: hit.description.sourceKey, bytes: Int64(offset) + Int64(length),
            storedAt: hit.description.storedAt, accessedAt: parts.clock())
        guard try await writer.perform(.secure(entry, identity)) > 0 else { return false }
        parts.secured.insert(identity)
        return true
    }
}
