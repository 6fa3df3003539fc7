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
    /// Stores what the shared tier had on this node's disk; a failure is counted there, and costs another look-up.
    func store(
        shared entry: PortableEntry, of record: SourceRecord, scope: StorageScope, token: PurgeToken
    ) async {
        let policy = entry.description.kind == .original ? originals : results
        guard policy.usesDisk, scope.usesDisk, !record.directives.forbidStoring,
            !token.knowsNewerContent(than: entry.description)
        else { return }
        // Lost: why; the tier has counted it.
        guard entry.body.count > Self.maxAtOnce else {
            return _ = try? await disk.store(
                entry.description, body: entry.body, checksum: entry.checksum, record: record, token: token)
        }
        guard
            // Lost: why; the tier has counted it, but for a body that can't be written.
            let staged = try? disk.stage(
                kind: entry.description.kind, keyText: entry.description.keyText),
            (try? await reading.run({ () throws(BodyError) in
                try staged.file.writeAll(entry.body, at: staged.bodyOffset)
            })) != nil
        else { return }
        // Lost: why; the tier has counted it.
        _ = try? await disk.commit(
            staged, entry.description, byteCount: entry.body.count, bodyChecksum: entry.checksum,
            record: record, token: token)
    }

    /// A longer body is not written by the thread that writes for all.
    private static let maxAtOnce = 256 << 10

    // MARK: - Reading for an upload

    /// A picture, and the record of its source, as they are here now; nil if they are not.
    func content(of subject: SharedSubject) async -> SharedUpload.Content? {
        if let entry = peek(subject.result), entry.description.kind.isResult, !entry.record.isPartial {
            return await content(entry.description, entry.body, entry.record)
        }
        for kind in EntryKind.results {
            // Lost: why it can't be read; it is then not uploaded.
            guard
                let hit = try? await disk.findBlocking(subject.result, kind, subject.resultText, .inAnyFile),
                !hit.isReadOnly, let record = await disk.sourceRecord(for: subject.source),
                record.contentHash == hit.description.sourceHash
            else { continue }
            return await content(hit.description, hit.body, record)
        }
        return nil
    }

    /// An original, and its record, as they are here now; nil if they are not.
    func originalContent(of subject: SharedSubject) async -> SharedUpload.Content? {
        if let entry = peek(subject.source) ?? peek(subject.result), entry.description.kind == .original,
            !entry.record.isPartial
        {
            var description = entry.description
            description.name(subject.source, subject.sourceText)
            return await content(description, entry.body, entry.record)
        }
        // Lost: as above.
        guard
            let hit = try? await disk.findBlocking(subject.source, .original, subject.sourceText, .inAnyFile),
            !hit.isReadOnly, let record = await disk.sourceRecord(for: subject.source),
            record.contentHash == hit.description.contentHash
        else { return nil }
        return await content(hit.description, hit.body, record)
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
        guard let shared else { return }
        let (description, record) = (entry.description, entry.record)
        let subject = SharedSubject(
            source: record.key, sourceText: record.keyText, url: record.url, result: description.key,
            resultText: description.keyText)
        offer(subject, description.kind, record, cost: nil, to: shared)
    }

    /// Offers a picture or an original.
    /// - Parameter cost: milliseconds of work that it took; nil for a use of what was there.
    func offer(
        _ subject: SharedSubject, _ kind: EntryKind, _ record: SourceRecord, cost: Int?, to shared: SharedTier
    ) {
        guard !record.directives.forbidStoring, kind != .intermediate else { return }
        let token = purgeLog.token(for: subject.result, subject.source)
        let isOriginal = kind == .original
        shared.offer(
            SharedUpload(subject, token: token) { [weak self] in
                isOriginal
                    ? await self?.originalContent(of: subject) : await self?.content(of: subject)
            }, isOriginal: isOriginal, cost: cost)
    }
}

extension SourceRecord {
    /// The source's URL.
    var url: String { String(ImageRequest.source(inKeyText: keyText) ?? "") }
}

extension SharedSubject {
    /// What a request is about.
    init(_ request: ImageRequest) {
        self.init(
            source: request.sourceKey, sourceText: request.sourceKeyText,
            url: String(ImageRequest.source(inKeyText: request.sourceKeyText) ?? ""),
            result: request.resultKey, resultText: request.resultKeyText, tags: request.delivery.tags)
    }
}
