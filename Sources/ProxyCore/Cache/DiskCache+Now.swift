// SPDX-License-Identifier: Apache-2.0

extension DiskCache {
    /// Files shorter than this are read at once, header and body, and answered from the copy: sendfile(2) costs more.
    private static let inlineLength = 16 << 10
    /// As much of a file is read before its length is known: of a shorter one that is all, and nothing else is asked.
    private static let firstRead = 4 << 10

    /// Hot path: an entry with its source's record, if one open file and what is in memory tell both; counted then only.
    ///
    /// Waits for nothing, as `lookUpNow`. The record may lack what only a revalidation needs, so it is none to be kept.
    ///
    /// - Parameters:
    ///   - asFile: leave the bytes in the open file, however few, for it is kept.
    ///   - isUsable: asked of an entry that has a record.
    public func answerNow(
        _ key: CacheKey, kind: EntryKind, keyText: String, asFile: Bool = false,
        where isUsable: (DiskHit, SourceRecord) -> Bool
    ) -> DiskAnswer {
        answer(EntryID(kind: kind, key: key), keyText, asFile: asFile, fromMemory: true, where: isUsable)
    }

    /// The same of a file that the disk has to be waited for, on a thread that may: without the index, too.
    ///
    /// Nil is no answer, neither yes nor no.
    public func answerSoon(
        _ key: CacheKey, kind: EntryKind, keyText: String,
        where isUsable: @escaping @Sendable (DiskHit, SourceRecord) -> Bool
    ) async -> DiskHit? {
        let id = EntryID(kind: kind, key: key)
        // Lost: that too many wait; the look-up that follows meets it again.
        let answer = try? await readers.run { () throws(DiskCacheError) in
            self.answer(id, keyText, asFile: false, fromMemory: false, where: isUsable)
        }
        guard case .hit(let hit) = answer else { return nil }
        return hit
    }

    private func answer(
        _ id: EntryID, _ keyText: String, asFile: Bool, fromMemory: Bool,
        where isUsable: (DiskHit, SourceRecord) -> Bool
    ) -> DiskAnswer {
        // Lost: the error; the look-up that waits meets it again.
        let found =
            drafts.hit(id, keyText).map(DiskAnswer.hit)
            ?? (try? hitOnDisk(id, keyText, asFile: asFile, fromMemory: fromMemory)) ?? .unknown
        guard case .hit(var hit) = found else { return found }
        let source = hit.description.sourceKey
        if let known = records.record(for: source) {
            hit.record = known
        } else if parts.index.superseded.mayContain(source) {
            return .unknown
        }
        guard let record = hit.record, record.contentHash == hit.description.sourceHash,
            isUsable(hit, record)
        else { return .unknown }
        countHit(id)
        return .hit(hit)
    }

    /// Unknown is whatever is not plainly a hit: damage is told, and dealt with, by the look-up that may wait.
    private func hitOnDisk(
        _ id: EntryID, _ keyText: String, asFile: Bool, fromMemory: Bool
    ) throws(DiskCacheError) -> DiskAnswer {
        guard parts.entries.mayContain(id) else { return .unknown }
        let file: OwnedDescriptor
        switch try parts.folder.open(id, fromMemory: fromMemory, countedBy: parts.bodies) {
        case .file(let opened): file = opened
        case .missing: return .unknown
        case .wouldBlock: return .wouldBlock
        }
        if !asFile {
            guard let beginning = file.readOnce(Self.firstRead, fromMemory: fromMemory) else {
                return .wouldBlock
            }
            if beginning.count < Self.firstRead { return inlineHit(beginning, id, keyText) }
        }
        let entry = EntryFile(file: file, status: try parts.folder.status(of: file))
        if !asFile, (0..<Self.inlineLength).contains(Int(entry.status.size)) {
            guard let whole = file.readOnce(Int(entry.status.size), fromMemory: fromMemory) else {
                return .wouldBlock
            }
            return inlineHit(whole, id, keyText)
        }
        switch try read(entry, as: id, keyText: keyText, fromMemory: fromMemory) {
        case .entry(let hit): return .hit(hit)
        case .wouldBlock: return .wouldBlock
        case .foreign, .damaged: return .unknown
        }
    }

    private func inlineHit(_ file: [UInt8], _ id: EntryID, _ keyText: String) -> DiskAnswer {
        guard let offset = DiskEntry.bodyOffset(inFixedPart: file[...]), offset <= file.count,
            let entry = DiskEntry(header: file[..<offset], expecting: keyText),
            entry.fileLength == file.count, entry.id == id
        else { return .unknown }
        let body = Array(file[offset...])
        guard Checksum.crc32c(body) == entry.bodyChecksum else { return .unknown }
        return .hit(
            DiskHit(
                description: entry.description, body: .bytes(body), checksum: entry.bodyChecksum,
                record: believed(entry)))
    }

    /// What a file says of its source, if the index is still the one that knew it.
    func believed(_ entry: DiskEntry) -> SourceRecord? {
        guard let snapshot = entry.snapshot, snapshot.epoch == parts.index.epoch else { return nil }
        return snapshot.record(of: entry.description)
    }
}
