// SPDX-License-Identifier: Apache-2.0

extension DiskCache {
    /// Files shorter than this are read at once, header and body, and answered from the copy: sendfile(2) costs more.
    private static let inlineLength = 16 << 10
    /// As much of a file is read before its length is known: of a shorter one that is all, and nothing else is asked.
    private static let firstRead = 4 << 10

    /// Hot path: an entry with its source's record, if one open file and what is in memory tell both; counted then only.
    ///
    /// Waits for nothing, as `lookUpNow`; nil is no answer, neither yes nor no. The record may lack what only a
    /// revalidation needs, so it is none to be kept.
    ///
    /// - Parameters:
    ///   - asFile: leave the bytes in the open file, however few, for it is kept.
    ///   - isUsable: asked of an entry that has a record.
    public func answerNow(
        _ key: CacheKey, kind: EntryKind, keyText: String, asFile: Bool = false,
        where isUsable: (DiskHit, SourceRecord) -> Bool
    ) -> DiskHit? {
        let id = EntryID(kind: kind, key: key)
        // Lost: the error; the look-up that waits meets it again.
        guard var hit = drafts.hit(id, keyText) ?? (try? hitOnDisk(id, keyText, asFile: asFile)) else {
            return nil
        }
        let source = hit.description.sourceKey
        if let known = records.record(for: source) {
            hit.record = known
        } else if parts.index.superseded.mayContain(source) {
            return nil
        }
        guard let record = hit.record, record.contentHash == hit.description.sourceHash,
            isUsable(hit, record)
        else { return nil }
        countHit(id)
        return hit
    }

    /// Nil for whatever is not plainly a hit: damage is told, and dealt with, by the look-up that may wait.
    private func hitOnDisk(
        _ id: EntryID, _ keyText: String, asFile: Bool
    ) throws(DiskCacheError) -> DiskHit? {
        guard parts.entries.mayContain(id) else { return nil }
        guard case .file(let file) = try parts.folder.open(id, fromMemory: true, countedBy: parts.bodies)
        else { return nil }
        if !asFile, let beginning = file.readOnce(Self.firstRead, fromMemory: true),
            beginning.count < Self.firstRead
        {
            return inlineHit(beginning, id, keyText)
        }
        let entry = EntryFile(file: file, status: try parts.folder.status(of: file))
        if !asFile, (0..<Self.inlineLength).contains(Int(entry.status.size)) {
            return file.readOnce(Int(entry.status.size), fromMemory: true).flatMap {
                inlineHit($0, id, keyText)
            }
        }
        guard case .entry(let hit) = try read(entry, as: id, keyText: keyText, fromMemory: true) else {
            return nil
        }
        return hit
    }

    private func inlineHit(_ file: [UInt8], _ id: EntryID, _ keyText: String) -> DiskHit? {
        guard let offset = DiskEntry.bodyOffset(inFixedPart: file[...]), offset <= file.count,
            let entry = DiskEntry(header: file[..<offset], expecting: keyText),
            entry.fileLength == file.count, entry.id == id
        else { return nil }
        let body = Array(file[offset...])
        guard Checksum.crc32c(body) == entry.bodyChecksum else { return nil }
        return DiskHit(
            description: entry.description, body: .bytes(body), checksum: entry.bodyChecksum,
            record: believed(entry))
    }

    /// What a file says of its source, if the index is still the one that knew it.
    func believed(_ entry: DiskEntry) -> SourceRecord? {
        guard let snapshot = entry.snapshot, snapshot.epoch == parts.index.epoch else { return nil }
        return snapshot.record(of: entry.description)
    }
}
