// SPDX-License-Identifier: Apache-2.0

package import Bodies
package import Cache
import Freshness
import Primitives
import Request
package import Sharing

/// Memory, open files, disk and folders that are only read, as the pipeline uses them: where to look, what to store where;
/// a failure of any is a miss.
///
/// The tier has counted it, and the image is made again: a failing cache must not prevent an answer.
/// Safe from any task.
package final class ImageTiers: Sendable {
    package let memory: MemoryCache
    /// Entries whose bytes stay on disk, with their files open: for what memory may not hold.
    let openFiles: MemoryCache
    package let disk: DiskCache
    /// What was purged while work was under way.
    let purgeLog = PurgeLog()
    private let accessFilter = AccessFilter()
    package let originals: CacheConfiguration.StorePolicy
    package let results: CacheConfiguration.StorePolicy
    let maxEntryBytes: Int
    /// The tier that nodes share, behind the others; nil without one. What a second one takes is in ARCHITECTURE.md.
    package let shared: SharedTier?
    /// The homes of sources among the nodes; nil where this node asks none.
    let homes: ClusterHomes?
    private let keepsFiles: Bool
    /// Reads bytes back; blocking, so never on Swift's own threads.
    let reading = IOQueue<BodyError>(
        label: "tiers", maxRunning: 4, maxWaiting: 4_096, overloaded: .storage("too much waits"))

    /// Bundles the tiers.
    package init(
        memory: MemoryCache, disk: DiskCache, configuration: CacheConfiguration, shared: SharedTier? = nil,
        homes: ClusterHomes? = nil
    ) {
        (self.shared, self.homes) = (shared, homes)
        self.memory = memory
        self.disk = disk
        var open = MemoryCacheConfiguration()
        let share = MemoryShare(of: memory, dividedBy: Self.openFileShare, atLeast: Self.minOpenFileBytes)
        open.maxBytes = ByteCount(share.limit)
        open.limits.maxWeakEntries = 0
        open.maxEntries = configuration.disk.openFiles
        openFiles = MemoryCache(configuration: open, share: share)
        keepsFiles = configuration.disk.openFiles > 0
        originals = configuration.originals
        results = configuration.results
        maxEntryBytes = configuration.memory.maxEntryBytes.bytes
        disk.whenSwept { [openFiles] swept in
            for entry in swept {
                // Untransformed pictures are stored under their results' keys there.
                if entry.kind == .original {
                    _ = openFiles.removeOriginals(ofSource: entry.key)
                } else {
                    openFiles.remove(entry.key)
                }
            }
        }
        disk.whenUnlinked { [memory, openFiles, purgeLog] links, isDone in
            guard isDone else { return purgeLog.begin(links.keys) }
            for cache in [memory, openFiles] {
                for link in links { cache.remove(link.result) }
                for source in Set(links.map(\.source)) { cache.removeAll(ofSource: source) }
            }
            purgeLog.end(links.keys)
        }
    }

    /// The entries of open files take at most this share of `cache.memory.maxBytes`.
    private static let openFileShare = 8
    /// The minimum of that share, in bytes.
    private static let minOpenFileBytes = 16 << 20

    /// Hot path: an entry that can be answered from at once, in memory or by an open file; counted.
    func entry(for key: CacheKey) -> MemoryEntry? {
        if let entry = memory.entry(for: key) { return entry }
        guard keepsFiles, let entry = openFiles.entry(for: key) else { return nil }
        guard entry.isIntact else {
            openFiles.remove(key)
            return nil
        }
        disk.countHit(entry.description.kind)
        return entry
    }

    /// The same, neither counted nor noted as a use.
    func peek(_ key: CacheKey) -> MemoryEntry? {
        memory.peek(key) ?? openFiles.peek(key).flatMap { $0.isIntact ? $0 : nil }
    }

    /// Gives all entries of a source its new record.
    func update(_ record: SourceRecord, token: PurgeToken? = nil) {
        memory.update(record, token: token)
        openFiles.update(record, token: token)
    }

    /// Bytes found in a tier, and their description.
    struct Found: Sendable {
        let description: EntryDescription
        let body: StoredBody
        /// The entry that memory, or an open file, has of them; nil for the disk tier's.
        var entry: MemoryEntry?
        /// The disk tier's file that they are in.
        var file: DiskHit.CheckedFile?
    }

    // MARK: - Looking up

    /// What is recorded of `request`'s source.
    func record(for request: ImageRequest) async -> SourceRecord? {
        if let record = await disk.sourceRecord(for: request.sourceKey) { return record }
        return await recordBesideIndex(for: request, nil)
    }

    private func recordBesideIndex(for request: ImageRequest, _ client: ClientID?) async -> SourceRecord? {
        if let record = recordInMemory(for: request) { return record }
        return await disk.readOnlyRecord(
            source: request.sourceKey, sourceText: request.sourceKeyText, result: request.resultKey,
            resultText: request.resultKeyText, for: client)
    }

    /// The record as memory has it, once more, for a request that has waited for other nodes.
    ///
    /// Does not suspend, so that no task can end between this and the fetch. A record that has just been saved is in memory.
    func recordAgain(for request: ImageRequest) -> SourceRecord? {
        disk.recentRecord(for: request.sourceKey) ?? recordInMemory(for: request)
    }

    private func recordInMemory(for request: ImageRequest) -> SourceRecord? {
        guard var record = peek(request.resultKey)?.record else { return nil }
        // Without a validator the origin answers with the whole source: a 304 repeats less than a partial record lacks.
        if record.isPartial { record.reuse.lastModified = nil }
        return record
    }

    /// `record`, counted, where a client's request can use it: an untransformed image that no tier holds can't be served,
    /// whatever is recorded.
    ///
    /// Saves requests for new images the query of the index. A transform may have its intermediate, which only the record
    /// names.
    /// - Parameters:
    ///   - request: the request.
    ///   - client: the client whose turn a look-up takes; so in all that may wait for the disk.
    /// - Throws: `queueFull` when too many look-ups wait for the disk, and memory has no record: the origin must not be asked instead.
    func usableRecord(
        for request: ImageRequest, client: ClientID?
    ) async throws(PipelineError) -> SourceRecord? {
        guard request.plan != nil || mayHold(request) else {
            disk.countMiss(.original)
            return nil
        }
        do throws(DiskCacheError) {
            let record = try await disk.sourceRecord(for: request.sourceKey, client: client)
            if let record { return record }
        } catch {
            guard let record = recordInMemory(for: request) else { throw .queueFull }
            return record
        }
        disk.countMiss(.original)
        return await recordBesideIndex(for: request, client)
    }

    /// Whether pictures that are not here are requested from other nodes.
    var asksOtherNodes: Bool { shared != nil || homes != nil }

    /// Whether a 304 would leave something to serve `request` from, as far as is known without reading the disk.
    func mayHold(_ request: ImageRequest) -> Bool {
        peek(request.resultKey) != nil || mayHoldOriginal(of: request)
            || EntryKind.results.contains { disk.mayContain(request.resultKey, kind: $0) }
    }

    /// Whether the original may be here, as far as is known without reading the disk.
    func mayHoldOriginal(of request: ImageRequest) -> Bool {
        peek(request.sourceKey) != nil || disk.mayContain(request.sourceKey, kind: .original)
    }

    /// The stored result for `request`, if it was made from content `hash`; for an untransformed image the original.
    /// - Throws: `queueFull` when too many look-ups wait for the disk.
    func result(
        for request: ImageRequest, hash: ContentHash, client: ClientID?
    ) async throws(PipelineError) -> Found? {
        if let entry = peek(request.resultKey), entry.description.sourceHash == hash {
            return Found(description: entry.description, body: entry.body, entry: entry)
        }
        guard request.plan != nil else { return try await original(for: request, hash: hash, client: client) }
        let found = try await onDisk(request.resultKey, .result, request.resultKeyText, client)
        if let found, found.description.sourceHash == hash { return found }
        guard disk.mayContain(request.resultKey, kind: .derived) else { return nil }
        let derived = try await onDisk(request.resultKey, .derived, request.resultKeyText, client)
        return derived?.description.sourceHash == hash ? derived : nil
    }

    /// The stored original of `request`'s source, if its content is still `hash`.
    /// - Throws: `queueFull` when too many look-ups wait for the disk.
    func original(
        for request: ImageRequest, hash: ContentHash, client: ClientID?
    ) async throws(PipelineError) -> Found? {
        if let entry = peek(request.sourceKey), entry.description.contentHash == hash {
            return Found(description: entry.description, body: entry.body, entry: entry)
        }
        let found = try await onDisk(request.sourceKey, .original, request.sourceKeyText, client)
        return found?.description.contentHash == hash ? found : nil
    }

    /// Where the disk tier may hold the picture of `request`; nil where it holds nothing.
    func place(of request: ImageRequest) -> (key: CacheKey, kind: EntryKind, text: String)? {
        guard request.plan != nil else {
            let key = request.sourceKey
            return disk.mayContain(key, kind: .original) ? (key, .original, request.sourceKeyText) : nil
        }
        let key = request.resultKey
        if disk.mayContain(key, kind: .result) { return (key, .result, request.resultKeyText) }
        return disk.mayContain(key, kind: .derived) ? (key, .derived, request.resultKeyText) : nil
    }

    /// Notes a request for what memory does not have, and returns where its entry belongs.
    func noteRequest(of key: CacheKey) -> AccessFilter.Advice {
        guard keepsFiles || results.usesMemory else { return .stay }
        return accessFilter.noteRequest(
            of: key, mayUseMemory: results.usesMemory, mayUseFiles: keepsFiles,
            evictions: { (memory.evictedForSpace, openFiles.evictedForSpace) })
    }

    /// What the disk tier holds; a file that can't be read counts as none.
    ///
    /// - Throws: `queueFull` where there may be one, but too many look-ups wait: the origin must not be asked instead.
    func onDisk(
        _ key: CacheKey, _ kind: EntryKind, _ keyText: String, _ client: ClientID?
    ) async throws(PipelineError) -> Found? {
        do throws(DiskCacheError) {
            guard let hit = try await disk.lookUp(key, kind: kind, keyText: keyText, for: client) else {
                return nil
            }
            return Found(description: hit.description, body: hit.body, file: hit.file)
        } catch .overloaded {
            throw .queueFull
        } catch {
            // The disk tier has counted that.
            return nil
        }
    }

    /// Whether bytes of the disk tier that were used are still unaltered; else they are removed.
    func isUnaltered(_ file: DiskHit.CheckedFile?, for client: ClientID?) async -> Bool {
        guard let file else { return true }
        return await disk.isUnaltered(file, for: client)
    }

    // MARK: - Into memory

    /// Keeps the file of a hit of the disk tier open, where the hit was not promoted to memory.
    func keepOpen(_ response: inout ImageResponse, token: PurgeToken) {
        guard keepsFiles, response.entry == nil,
            !response.record.reuse.directives.forbidStoring,
            let entry = MemoryEntry(
                description: response.description, file: response.body, record: response.record)
        else { return }
        guard let kept = openFiles.insert(entry, token: token) else { return }
        response.keep(kept)
    }

    /// Changes how many files are kept open at most, because connections need their descriptors, or no longer do.
    package func keepFiles(atMost count: Int) {
        openFiles.resize(maxEntries: count)
    }

    /// The files that are open for clients, and how many may be.
    package var bodyFiles: BodyFiles { disk.bodies }

    /// Closes about `count` of the files that are kept open; returns how many.
    package func closeFiles(_ count: Int) -> Int { openFiles.evictSome(count) }

    /// Puts a response's bytes into memory, where policy and size allow it, with the latest record of their source.
    func promote(_ response: inout ImageResponse, token: PurgeToken) async {
        guard results.usesMemory, response.entry == nil, response.body.count <= maxEntryBytes,
            !response.record.reuse.directives.forbidStoring, let lease = memory.lease(response.body.count),
            let bytes = await bytes(of: response.body)
        else { return }
        let entry = MemoryEntry(
            description: response.description, body: bytes, record: response.record, lease: lease)
        guard let kept = memory.insert(entry, token: token) else { return }
        response.body = .bytes(bytes)
        response.keep(kept)
    }

    /// All bytes of a body; nil when they can't be read.
    func bytes(of body: StoredBody) async -> [UInt8]? {
        switch body {
        case .bytes(let bytes): return bytes
        case .file(let file, let offset, let length):
            // Ignored: why; the bytes are then sent from the file itself.
            return try? await reading.run { () throws(BodyError) in
                try file.readAll(from: offset, count: Int(length))
            }
        }
    }
}

extension ImageResponse {
    /// Answers from an entry, with its record of the source.
    fileprivate mutating func keep(_ entry: MemoryEntry) {
        self.entry = entry
        record = entry.record
    }
}
