// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
import Cache
import Freshness
import Glibc
import Loading
import Primitives
import Request

/// Where bodies are written, and how originals, records and results are stored.
extension ImageTiers {
    // MARK: - Places to write

    /// An empty body for a fetch: a buffer that spills into the disk tier, or into memory where that can't take it.
    func newBody(keyText: String, scope: StorageScope) -> (body: PartialBody, place: SpillTarget) {
        let mayStore = originals.usesDisk && scope.usesDisk
        let place = SpillTarget()
        let body = PartialBody { () throws(BodyError) in
            let target = try self.target(.original, keyText, mayStore: mayStore)
            place.set(target)
            return target.place
        } makeFallback: { () throws(BodyError) in
            let target = try self.fallbackTarget()
            place.set(target)
            return target.place
        }
        return (body, place)
    }

    /// A place in memory for what the disk could not take; the disk tier counts that.
    func fallbackTarget() throws(BodyError) -> OutputTarget {
        disk.countWriteFailure()
        return try memoryTarget()
    }

    /// A place for a rendition.
    func newResult(
        _ kind: EntryKind, for request: ImageRequest, of record: SourceRecord, scope: StorageScope
    ) throws(PipelineError) -> OutputTarget {
        do throws(BodyError) {
            return try target(
                kind, request.resultKeyText, mayStore: mayStoreOnDisk(of: record, by: results, scope))
        } catch {
            throw PipelineError(LoadError(error))
        }
    }

    /// A place for an intermediate; nil where the disk tier may not or can't store it.
    func newIntermediate(
        _ key: IntermediateKey, of record: SourceRecord, scope: StorageScope
    ) -> OutputTarget? {
        guard mayStoreOnDisk(of: record, by: results, scope) else { return nil }
        return stagedTarget(.intermediate, key.text)
    }

    /// Whether policy, client and origin let the disk tier store something of a source.
    func mayStoreOnDisk(
        of record: SourceRecord, by policy: CacheConfiguration.StorePolicy, _ scope: StorageScope
    ) -> Bool {
        policy.usesDisk && scope.usesDisk && !record.reuse.directives.forbidStoring
    }

    private func target(
        _ kind: EntryKind, _ keyText: String, mayStore: Bool
    ) throws(BodyError) -> OutputTarget {
        if mayStore, let target = stagedTarget(kind, keyText) { return target }
        return try memoryTarget()
    }

    private func stagedTarget(_ kind: EntryKind, _ keyText: String) -> OutputTarget? {
        // Ignored: why nothing can be staged; the disk tier has counted it, and the bytes are then only answered.
        guard let staged = try? disk.stage(kind: kind, keyText: keyText) else { return nil }
        return OutputTarget(file: staged.file, offset: staged.bodyOffset, staged: staged)
    }

    /// A place in memory: for bytes that are read again at once, or that no tier may hold.
    func memoryTarget() throws(BodyError) -> OutputTarget {
        // Too many files are open; that passes.
        guard disk.bodies.enter() else { throw .tooManyFiles }
        let descriptor = unsafe linux_memfd_create("body")
        guard descriptor >= 0 else {
            let code = errno
            disk.bodies.leave()
            guard code != EMFILE, code != ENFILE else { throw .tooManyFiles }
            throw .storage("memfd_create: error \(code)")
        }
        return OutputTarget(
            file: OwnedDescriptor(owning: descriptor, countedBy: disk.bodies, isMemory: true), offset: 0,
            staged: nil)
    }

    /// Moves bytes from memory to a file without a name, of which nothing outlasts its use; nil where there can be none.
    func spilled(_ bytes: [UInt8], keyText: String) async -> StoredBody? {
        // Ignored in both: why there is no file; the disk tier has counted it.
        guard let staged = try? disk.stage(kind: .result, keyText: keyText) else { return nil }
        let isWritten: Void? = try? await reading.run { () throws(BodyError) in
            try staged.file.writeAll(bytes, at: staged.bodyOffset)
        }
        guard isWritten != nil else { return nil }
        return .file(staged.file, offset: staged.bodyOffset, length: Int64(bytes.count))
    }

    // MARK: - Originals

    /// Stores a fetched body and the record of its source; the tier counts a failure.
    ///
    /// Nothing is stored where another fetch has brought something later meanwhile (RFC 9111 §4).
    /// - Parameters:
    ///   - stale: the record of before; where the bytes turn out equal, the stored ones stay as they are.
    ///   - receivedAt: when the head of the response was there.
    /// - Returns: where the bytes are now.
    func storeOriginal(
        _ content: PartialBody.Content, at place: SpillTarget, as record: SourceRecord,
        replacing stale: SourceRecord?, receivedAt: ContinuousClock.Instant, scope: StorageScope,
        for client: ClientID?, token: PurgeToken, now: Int64
    ) async -> Source.Stored {
        guard !record.reuse.directives.forbidStoring, scope != .nothing,
            let token = purgeLog.claim(record, receivedAt: receivedAt, under: token)
        else { return .nowhere }
        if record.contentHash == stale?.contentHash, disk.mayContain(record.key, kind: .original) {
            await save(record, scope: scope, token: token)
            return Source.Stored(isAnywhere: token.isValid, isDurable: false)
        }
        var stored = Source.Stored.nowhere
        let description = EntryDescription(
            kind: .original, key: record.key, keyText: record.keyText, sourceKey: record.key,
            sourceHash: record.contentHash, contentHash: record.contentHash, format: record.format,
            storedAt: now)
        if originals.usesMemory, content.body.count <= maxEntryBytes,
            let lease = memory.lease(content.body.count), let bytes = await bytes(of: content.body)
        {
            let entry = MemoryEntry(
                description: description, body: bytes, record: record, lease: lease)
            stored.isAnywhere = memory.insert(entry, token: token) != nil
        }
        // Together with the record: a request that reads that before would look for bytes that are not there yet.
        if mayStoreOnDisk(of: record, by: originals, scope),
            await storeOnDisk(
                content, place.value, description, record, durable: scope == .durable, for: client,
                token: token)
        {
            update(record, token: token)
            return Source.Stored(isAnywhere: token.isValid, isDurable: scope == .durable)
        }
        await save(record, scope: scope, token: token)
        return stored
    }

    /// Whether body and record are in the disk tier.
    private func storeOnDisk(
        _ content: PartialBody.Content, _ place: OutputTarget?, _ description: EntryDescription,
        _ record: SourceRecord, durable: Bool, for client: ClientID?, token: PurgeToken
    ) async -> Bool {
        do throws(DiskCacheError) {
            // Bytes in memory first: a file may have been reserved for them, and stayed empty.
            if case .bytes(let bytes) = content.body, !durable, disk.storesSoon {
                return disk.storeSoon(
                    description, body: bytes, checksum: content.checksum, record: record, for: client,
                    token: token)
            } else if case .bytes(let bytes) = content.body {
                try await disk.store(
                    description, body: bytes, checksum: content.checksum, record: record, savesRecord: true,
                    durable: durable, for: client, token: token)
            } else if let staged = place?.staged {
                try await disk.commit(
                    staged, description, byteCount: content.body.count, bodyChecksum: content.checksum,
                    record: record, savesRecord: true, durable: durable, for: client, token: token)
            } else {
                return false
            }
            return true
        } catch {
            // The tier has counted what failed, and the original is fetched again when it is needed.
            return false
        }
    }

    /// Stores a source's record as a 304 leaves it, unless something later has come meanwhile.
    ///
    /// - Parameter receivedAt: when the head of the 304 was there.
    func saveIfLatest(
        _ record: SourceRecord, receivedAt: ContinuousClock.Instant, scope: StorageScope,
        token: PurgeToken
    ) async {
        guard scope != .nothing, let token = purgeLog.claim(record, receivedAt: receivedAt, under: token)
        else { return }
        await save(record, scope: scope, token: token)
    }

    /// Stores a source's latest record.
    private func save(_ record: SourceRecord, scope: StorageScope, token: PurgeToken) async {
        update(record, token: token)
        guard scope.usesDisk else { return await removeOutdated(record, token: token) }
        // Ignored: a failure to write; the source is then requested again.
        try? await disk.save(record, token: token)
        // Again: (1) an event loop finds an entry with the old record, (2) the lines above run, (3) the loop keeps its file open.
        openFiles.update(record, token: token)
    }

    /// Removes from disk what a record that must not be written there shows to be outdated.
    private func removeOutdated(_ record: SourceRecord, token: PurgeToken) async {
        guard token.isValid, let stored = await disk.sourceRecord(for: record.key),
            stored.contentHash != record.contentHash
        else { return }
        // Ignored: a failure to delete; the entries then serve for as long as they are fresh.
        _ = try? await disk.removeAll(ofSource: record.key)
    }

    // MARK: - Results

    /// Reads what a worker has written.
    func read(_ target: OutputTarget, byteCount: Int) async throws(PipelineError) -> [UInt8] {
        let body = StoredBody.file(target.file, offset: target.offset, length: Int64(byteCount))
        guard let bytes = await bytes(of: body) else {
            throw .internalFailure("a rendition can't be read back")
        }
        return bytes
    }

    /// Stores a rendition where policy, size and the source's directives allow it.
    /// - Parameter mayPromote: whether memory may get it.
    func storeResult(
        _ response: inout ImageResponse, from target: OutputTarget, scope: StorageScope, mayPromote: Bool,
        for client: ClientID?, token: PurgeToken
    ) async {
        guard !response.record.reuse.directives.forbidStoring, scope != .nothing,
            !token.knowsNewerContent(than: response.description)
        else { return }
        let byteCount = response.body.count
        if mayPromote { await promote(&response, token: token) }
        if let staged = target.staged {
            // Ignored: why; the tier has counted it, and the result is made again when it is needed.
            let isCommitted: Void? = try? await disk.commit(
                staged, response.description, byteCount: byteCount, bodyChecksum: nil,
                record: response.record,
                durable: scope == .durable, for: client, token: token)
            response.isStored = isCommitted != nil
            response.isDurable = response.isStored && scope == .durable
            if response.isDurable { response.entry?.markDurable() }
        }
        if response.entry != nil { response.isStored = true }
    }

    /// Replaces a result by the same bytes with a new description; false where no tier has taken them.
    func replace(
        _ description: EntryDescription, _ bytes: [UInt8], of record: SourceRecord, scope: StorageScope,
        token: PurgeToken
    ) async -> Bool {
        guard !token.knowsNewerContent(than: description) else { return false }
        var response = ImageResponse(
            description: description, record: record, body: .bytes(bytes), provenance: .memory)
        await promote(&response, token: token)
        guard results.usesDisk, scope.usesDisk else { return response.entry != nil }
        // Ignored: why; the tier has counted it, and the result is looked at again when it is requested.
        let isStored: Void? = try? await disk.store(description, body: bytes, record: record, token: token)
        openFiles.remove(description.key)
        return isStored != nil
    }

    // MARK: - Tags

    /// Links a request's tags to its result, for purges; false when that can't be stored.
    func linkTags(of request: ImageRequest) async -> Bool {
        guard !request.delivery.tags.isEmpty else { return true }
        let links = request.delivery.tags.map { tag in
            TagLink(tag: tag, result: request.resultKey, source: request.sourceKey)
        }
        do throws(DiskCacheError) {
            try await disk.link(links)
            return true
        } catch {
            // The disk tier has counted that.
            return false
        }
    }

    // MARK: - Power loss

    /// Makes what is answered from a tier survive a loss of power: syncs the entry's file; writes one first
    /// if the entry is in memory only.
    ///
    /// Nothing happens where the disk tier is off, and a failure is the tier's to count. What is in memory is marked, so
    /// that this is done once for it.
    /// - Parameter token: given before the response was looked up.
    func makeDurable(
        _ response: inout ImageResponse, for request: ImageRequest, client: ClientID?, token: PurgeToken
    ) async {
        let record = response.record
        var description = response.description
        let isOriginal = description.kind == .original
        guard !response.isDurable, response.entry?.isDurable != true, !record.reuse.directives.forbidStoring,
            (isOriginal ? originals : results).usesDisk, !token.knowsNewerContent(than: description)
        else { return }
        if isOriginal { description.name(request.sourceKey, request.sourceKeyText) }
        // Ignored: why the disk can't answer; the tier has counted it, and to store is to try once more.
        if (try? await disk.makeDurable(description, for: client)) == true { return markDurable(&response) }
        guard let bytes = await bytes(of: response.body) else { return }
        // The index knows more of a source than a file does.
        let known = await disk.sourceRecord(for: record.key)
        guard known.map({ $0.contentHash == description.sourceHash }) ?? true else { return }
        do throws(DiskCacheError) {
            try await disk.store(
                description, body: bytes, record: known ?? record, savesRecord: known == nil, durable: true,
                for: client, token: token)
        } catch {
            return
        }
        markDurable(&response)
    }

    private func markDurable(_ response: inout ImageResponse) {
        response.isDurable = true
        response.isStored = true
        response.entry?.markDurable()
    }
}
