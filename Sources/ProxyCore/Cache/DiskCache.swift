// SPDX-License-Identifier: Apache-2.0

import CLinux
import Dispatch
import Glibc
import Synchronization

/// The disk tier: originals and results as self-describing files, and source records, in one folder of one daemon.
///
/// A look-up asks a set in memory whether there may be a file, and then the file itself, never the index; a hit is served
/// only after the body has passed its checksum. Changes are made by one thread in batches, in an order that leaves a right
/// answer or a clean miss wherever the process is killed. Safe from any thread; calls that may wait for the disk are
/// `async` or say so, and all queues are bounded by `configuration.limits`.
public final class DiskCache: Sendable {
    let parts: DiskParts
    let writer: DiskWriter
    let readers: IOQueue
    let records: RecordMemory
    let drafts: WaitingDrafts
    /// Folders that are only read, in the order they are asked.
    let seeds: [SeedFolder]

    /// Opens the tier in `directory`, which it creates where needed.
    ///
    /// Blocking: some milliseconds, however many entries there are, plus at most `patience` while another daemon still holds
    /// the folder. What a crash left half done is settled here. An index that cannot be used is set aside and made anew
    /// from the files, meanwhile look-ups ask the file system.
    ///
    /// - Parameters:
    ///   - recordShare: how many bytes of source records may be in memory.
    ///   - clock: returns the time in seconds since 1970; the system's by default.
    ///   - report: hears what an operator should; called on any thread.
    /// - Throws: `locked`, `unsupported`, `full`, `readOnlyFolder`, or the call that failed.
    public init(
        directory: String, configuration: DiskCacheConfiguration = DiskCacheConfiguration(),
        patience: TimeSpan = .seconds(0), recordShare: MemoryShare = MemoryShare(bytes: 16 << 20),
        clock: @escaping @Sendable () -> Int64 = DiskCache.systemTime,
        report: @escaping @Sendable (DiskNotice) -> Void = { _ in }
    ) throws(DiskCacheError) {
        seeds = try Self.seeds(configuration)
        let parts = try DiskParts(
            directory: directory, configuration: configuration, patience: patience, clock: clock,
            report: report)
        let limits = configuration.limits
        self.parts = parts
        drafts = WaitingDrafts(maxBytes: limits.maxWaitingBytes.bytes)
        writer = DiskWriter(parts: parts)
        readers = IOQueue(
            label: "disk cache reader", maxRunning: limits.readers, maxWaiting: limits.maxWaitingReads)
        records = RecordMemory(
            limit: limits.maxRecordsInMemory, scanLimit: limits.maxRecordsInMemory, share: recordShare)
        whenUnlinked { _, _ in }
        DispatchQueue(label: "disk cache loader").async { [writer] in writer.load() }
    }

    private static func seeds(
        _ configuration: DiskCacheConfiguration
    ) throws(DiskCacheError) -> [SeedFolder] {
        var seeds: [SeedFolder] = []
        for path in configuration.readOnlyPaths {
            do {
                seeds.append(try SeedFolder(path: path))
            } catch {
                throw .readOnlyFolder(path, because: "\(error)")
            }
        }
        return seeds
    }

    /// The files that clients are answered from, or will be.
    var bodies: BodyFiles { parts.bodies }

    /// The system's time in seconds since 1970.
    public static let systemTime: @Sendable () -> Int64 = {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec)
    }

    /// Writes what has yet to be written, closes the index and lets go of the folder; a restart finds everything warm.
    ///
    /// Later calls that would change something throw `closed`.
    public func close() async {
        await writer.close()
    }

    /// Waits for a sign of life from the thread that writes; returns at once while the index is being opened, and behind
    /// `close`.
    public func ping() async {
        await writer.ping()
    }

    // MARK: - Housekeeping

    /// Keeps other amounts for other times from now on; what is too much by them goes soon.
    ///
    /// Of `configuration` only `maxBytes`, `lowWater`, `maxAge` and `sweepInterval` count, that one behind the next sweep.
    public func adopt(_ configuration: DiskCacheConfiguration) {
        parts.bounds.withLock { $0 = DiskBounds(configuration) }
        writer.beginSweep(nil)
        writer.wake()
    }

    /// Hot path: remembers that an entry was served from another tier, so that a sweep does not take it for unused.
    public func touch(_ key: CacheKey, kind: EntryKind) {
        touch(EntryID(kind: kind, key: key), at: parts.clock())
    }

    func touch(_ id: EntryID, at now: Int64) {
        if parts.touches.mark(id, at: now) { writer.wake() }
    }

    /// Removes what is too old, then the oldest while there is too much, now and not at the next interval.
    /// - Returns: how many entries were removed.
    @discardableResult
    public func sweep() async throws(DiskCacheError) -> Int {
        try await writer.perform(.sweep)
    }

    /// Has one observer hear what is swept away, so that it lets go of the files; called on the writer's thread.
    func whenSwept(_ observer: @escaping @Sendable ([EntryID]) -> Void) {
        parts.whenSwept(observer)
    }

    /// Has one observer hear of links that are forgotten for lack of room; called on the writer's thread, before their results
    /// are removed and their sources marked stale, and again behind that.
    func whenUnlinked(_ observer: @escaping @Sendable ([TagLink], _ isDone: Bool) -> Void) {
        parts.whenUnlinked { [records] links, isDone in
            // Twice: (1) forgotten, (2) a reader takes the earlier row and keeps it, (3) the row is marked.
            for source in Set(links.map(\.source)) { records.remove(source) }
            observer(links, isDone)
        }
    }

    /// Hot path: counts a hit that an open file answered.
    func countHit(_ kind: EntryKind) { parts.counters.lookedUp(kind, isHit: true) }

    /// Counts a look-up that was not worth trying.
    func countMiss(_ kind: EntryKind) { parts.counters.lookedUp(kind, isHit: false) }

    /// Counts bytes that could not be written into a staged file.
    func countWriteFailure() {
        failed(with: parts.folder.isNearlyFull ? .full : .system(call: "write", code: EIO))
    }

    /// Counts a store that failed, and sees to it that entries make room where that is why.
    func failed(with error: DiskCacheError) {
        if error != .purged, error != .tooLarge { parts.counters.failedToWrite() }
        parts.monitor.failed(with: error)
        if parts.monitor.wantsRoom || parts.monitor.wantsRecovery { writer.wake() }
    }

    // MARK: - Removal

    /// Removes one entry; false when there is none.
    @discardableResult
    public func remove(_ key: CacheKey, kind: EntryKind) async throws(DiskCacheError) -> Bool {
        try await writer.perform(.remove(EntryID(kind: kind, key: key), because: .purged)) > 0
    }

    /// Removes the original, all results and the record of a source.
    /// - Returns: how many entries were removed.
    @discardableResult
    public func removeAll(ofSource source: CacheKey) async throws(DiskCacheError) -> Int {
        records.remove(source)
        // Again: (1) the line above, (2) somebody reads the row and keeps it, (3) the row goes.
        defer { records.remove(source) }
        return try await writer.perform(.removeSource(source))
    }

    /// Removes everything, source records included.
    /// - Parameter keepingTags: leaves the tags, for they hang on what another tier holds.
    /// - Returns: how many entries were removed.
    @discardableResult
    public func removeAll(keepingTags: Bool = false) async throws(DiskCacheError) -> Int {
        records.removeAll()
        defer { records.removeAll() }
        return try await writer.perform(.removeAll(keepingTags: keepingTags))
    }
}
