// SPDX-License-Identifier: Apache-2.0

import Bodies
import Cache
import Freshness
import Imaging
package import Primitives

/// How pictures get into the store: later, and only those that are worth it.
extension SharedTier {
    /// Offers a picture, or an original, that has just been made or fetched, or that was used.
    ///
    /// - Parameters:
    ///   - upload: what it is, and how it is read when its turn comes.
    ///   - cost: milliseconds of work that it took; nil for a use of what was there.
    package func offer(_ upload: SharedUpload, cost: Int?) {
        guard upload.part != .original || configuration.originals else { return }
        let subject = upload.subject
        let isWorthIt = uploads.isWorthIt(upload.key, cost: cost) { time in
            store.clock.now - time < Int64(configuration.maxAge.seconds)
                && !journal.isPurged(subject, tags: [], madeAt: time)
        }
        if isWorthIt { append(upload) }
    }

    /// Offers a record that the origin has confirmed, or changed, of a source that the tier has.
    package func offerRecord(_ upload: SharedUpload) {
        if uploads.isShared(upload.subject.source) { append(upload) }
    }

    /// Notes that the tier has a picture or a source, which so is not uploaded again.
    package func noteShared(_ key: CacheKey) { uploads.noteShared(key, at: store.clock.now) }

    private func append(_ upload: SharedUpload) {
        guard uploads.append(upload), let first = uploads.begin(atMost: configuration.maxWrites) else {
            return
        }
        Task {
            var next: SharedUpload? = first
            while let upload = next {
                await run(upload)
                uploads.end()
                next = uploads.begin(atMost: configuration.maxWrites)
            }
        }
    }

    func run(_ upload: SharedUpload) async {
        guard journal.isCurrent, upload.token.isValid, let content = await upload.read(),
            !content.record.reuse.directives.forbidStoring,
            !content.record.reuse.directives.contains(.mustConfirm),
            !content.record.reuse.directives.contains(.inReadOnlyFolder)
        else { return }
        var names: [String] = []
        do throws(ExchangeError) {
            // The picture first: others find it as soon as they find the record.
            if let entry = content.entry, let name = try await put(entry, of: upload.subject) {
                names.append(name)
            }
            if try await put(content.record, of: upload.subject) {
                names.append(ObjectName.record(of: upload.subject.source))
            }
        } catch {
            // Lost where it fails again: this upload, which is counted; a later use offers the picture again.
            await retry(upload, after: error)
            return
        }
        // Purged meanwhile, and maybe after the purge had deleted everything.
        if !upload.token.isValid {
            sentRecords.forget(upload.subject.source)
            // Ignored: a failure to delete; nothing from before the purge is used.
            try? await store.delete(names)
        }
    }

    /// Has an upload wait once more. As long as the store is left alone it waits, in a queue that is bounded.
    private func retry(_ upload: SharedUpload, after error: ExchangeError) async {
        var again = upload
        if error == .breakerOpen {
            // Ignored: that the task was cancelled; then it is tried at once.
            try? await timer.sleep(for: Self.breakerRules.pause.duration)
        } else {
            guard error.isOfStore == true, upload.failures < Self.mostRetries else { return }
            again.failures += 1
        }
        _ = uploads.append(again)
    }

    private static let mostRetries = 2

    private func put(
        _ entry: PortableEntry, of subject: SharedSubject
    ) async throws(ExchangeError) -> String? {
        let description = entry.description
        guard description.stage != .cheapest, description.kind != .intermediate, let bytes = entry.encoded()
        else { return nil }
        let isOriginal = description.kind == .original
        let name =
            isOriginal
            ? ObjectName.original(description.contentHash)
            : ObjectName.result(description.key, of: description.sourceKey)
        guard store.uploadBudget.reserve(2 * bytes.count) else {
            uploads.countDropped()
            return nil
        }
        defer { store.uploadBudget.release(2 * bytes.count) }
        let age = now.seconds - description.storedAt
        try await withBreaker { () async throws(ExchangeError) in
            try await store.put(name, bytes, metadata: StoredObject.metadata(age: age, tags: subject.tags))
        }
        noteShared(isOriginal ? subject.source : subject.result)
        return name
    }

    /// False where the store has the record already.
    private func put(_ record: SourceRecord, of subject: SharedSubject) async throws(ExchangeError) -> Bool {
        let (portable, age) = record.forOthers(at: now)
        guard !sentRecords.has(record), let bytes = PortableRecord(portable).encoded() else { return false }
        try await withBreaker { () async throws(ExchangeError) in
            try await store.put(
                ObjectName.record(of: record.key), bytes,
                metadata: StoredObject.metadata(age: age, tags: subject.tags))
        }
        sentRecords.note(record)
        noteShared(subject.source)
        return true
    }
}
