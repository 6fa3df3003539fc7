// SPDX-License-Identifier: Apache-2.0

import Bodies
import Cache
import Freshness
import Imaging
import Primitives
import Request
import Sharing

/// Copies pictures of the shared tier to the local disk, and reads local pictures for uploads.
extension ImageTiers {
    /// Stores on this node's disk what the source's home or the shared tier had; a failure is counted there, and costs another
    /// look-up.
    func storeShared(
        _ entry: PortableEntry, of record: SourceRecord, scope: StorageScope, token: PurgeToken
    ) async {
        let policy = entry.description.kind == .original ? originals : results
        guard mayStoreOnDisk(of: record, by: policy, scope),
            !token.knowsNewerContent(than: entry.description)
        else { return }
        // Ignored: why; the tier has counted it.
        _ = try? await disk.store(
            entry.description, body: entry.body, checksum: entry.checksum, record: record, token: token)
    }

    // MARK: - Reading for an upload

    /// A picture or an original, and the record of its source, as they are here now; nil if they are not.
    func content(of subject: SharedSubject, isOriginal: Bool) async -> SharedUpload.Content? {
        let key = isOriginal ? subject.source : subject.result
        let text = isOriginal ? subject.sourceText : subject.resultText
        let kinds = isOriginal ? [.original] : EntryKind.results
        // In memory an untransformed picture has the result's key.
        if let entry = peek(key) ?? peek(subject.result), kinds.contains(entry.description.kind),
            !entry.record.isPartial
        {
            var description = entry.description
            description.name(key, text)
            return await content(description, entry.body, entry.record)
        }
        for kind in kinds {
            // Ignored: why it can't be read; it is then not uploaded.
            guard let hit = try? await disk.findOnIOThread(key, kind, text, .inAnyFile), !hit.isReadOnly,
                let record = await disk.sourceRecord(for: subject.source),
                record.contentHash == hit.description.sourceHash
            else { continue }
            return await content(hit.description, hit.body, record)
        }
        return nil
    }

    private func content(
        _ description: EntryDescription, _ body: StoredBody, _ record: SourceRecord
    ) async -> SharedUpload.Content? {
        guard let bytes = await bytes(of: body) else { return nil }
        return SharedUpload.Content(record: record, entry: PortableEntry(description, body: bytes))
    }

    // MARK: - Offering

    /// Offers what memory has to the shared tier, since it was used again.
    func offerUse(of entry: MemoryEntry) {
        guard shared != nil else { return }
        let (description, record) = (entry.description, entry.record)
        let subject = SharedSubject(
            source: (record.key, record.keyText), result: (description.key, description.keyText), tags: [])
        offer(subject, description.kind, record, cost: nil)
    }

    /// Offers a picture or an original to the shared tier, if there is one.
    /// - Parameter cost: milliseconds of work that it took; nil for a use of what was there.
    func offer(_ subject: SharedSubject, _ kind: EntryKind, _ record: SourceRecord, cost: Int?) {
        guard let shared, !record.reuse.directives.forbidStoring, kind != .intermediate else { return }
        let token = purgeLog.token(for: subject.result, subject.source)
        let isOriginal = kind == .original
        let upload = SharedUpload(isOriginal ? .original : .result, of: subject, token: token) {
            [weak self] in
            await self?.content(of: subject, isOriginal: isOriginal)
        }
        shared.offer(upload, cost: cost)
    }
}

extension SharedSubject {
    /// What a request is about.
    init(_ request: ImageRequest) {
        self.init(
            source: (request.sourceKey, request.sourceKeyText),
            result: (request.resultKey, request.resultKeyText), tags: request.delivery.tags)
    }

    fileprivate init(
        source: (key: CacheKey, text: String), result: (key: CacheKey, text: String), tags: [String]
    ) {
        self.init(
            source: source.key, sourceText: source.text,
            url: String(ImageRequest.source(inKeyText: source.text) ?? ""), result: result.key,
            resultText: result.text, tags: tags)
    }
}
