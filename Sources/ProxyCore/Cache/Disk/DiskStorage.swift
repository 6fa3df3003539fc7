// SPDX-License-Identifier: Apache-2.0

import Bodies
import Freshness
import Glibc
import Primitives
import Synchronization

/// What the reading and the writing side of the disk tier share: folder, index, and what is known of them in memory. Each member
/// is safe from any thread.
final class DiskStorage: Sendable {
    let configuration: DiskCacheConfiguration
    private let currentBounds: Mutex<DiskBounds>
    /// Returns the time in seconds since 1970.
    let clock: @Sendable () -> Int64
    let folder: DiskFolder
    let lock: FolderLock
    let index: DiskIndex
    let entries = EntrySet()
    let counters = Mutex(DiskCache.Statistics())
    /// Whether stores succeed.
    let health = Mutex(DiskHealth())
    /// Called with events for the operator.
    let onEvent: @Sendable (DiskEvent) -> Void
    let accesses: AccessTimes
    let tags = KnownTags()
    /// The source records used last.
    let records: RecordMemory
    /// The files that clients are or will be answered from.
    let bodies = BodyFiles()
    let verified: VerifiedFiles
    /// Called with what the writer removes on its own.
    let observers = Mutex(Observers())

    /// Closures in a struct: one that is the lock's own value is wrapped anew, and written back, each time it
    /// is read.
    struct Observers {
        /// Called with what a sweep has removed, so that its files are closed.
        var swept: @Sendable ([EntryID]) -> Void = { _ in }
        /// Called with links that are removed for lack of space: before and after the removal of their
        /// results.
        var unlinked: @Sendable ([TagLink], _ isDone: Bool) -> Void = { _, _ in }
    }

    private let overhead = Atomic<Int64>(0)
    /// Why the tier is off, because it has no writable folder, and stores and finds nothing; nil while it works.
    let outage = Mutex<DiskCacheError?>(nil)

    /// Opens everything in the folder.
    ///
    /// Blocking: for the lock at most `lockTimeout`, else some milliseconds, however many entries there are. On
    /// a read-only file system, the tier is off until that changes.
    init(
        directory: String, configuration: DiskCacheConfiguration, lockTimeout: TimeSpan,
        recordShare: MemoryShare,
        clock: @escaping @Sendable () -> Int64, report: @escaping @Sendable (DiskEvent) -> Void
    ) throws(DiskCacheError) {
        self.configuration = configuration
        currentBounds = Mutex(DiskBounds(configuration))
        self.clock = clock
        onEvent = report
        records = RecordMemory(limit: configuration.limits.maxRecordsInMemory, share: recordShare)
        accesses = AccessTimes(limit: configuration.limits.maxAccessTimes)
        verified = VerifiedFiles(capacity: configuration.limits.maxVerified)
        index = DiskIndex(path: "\(directory)/\(DiskIndex.fileName)", configuration: configuration)
        do {
            let folder = try DiskFolder(path: directory)
            (lock, self.folder) = (try FolderLock(folder: folder, lockTimeout: lockTimeout), folder)
        } catch .system(let call, EROFS) {
            (lock, folder) = (try FolderLock(), try DiskFolder(path: directory, creates: false))
            outage.withLock { $0 = .system(call: call, code: EROFS) }
            self.report { $0.failed(with: .system(call: call, code: EROFS), at: $1) }
            return
        }
        try withSpace { () throws(DiskCacheError) in try open() }
        if index.state.isNew, folder.hasEntries { onEvent(.indexReplaced) }
    }

    /// Opens the index, and a new one in place of one that cannot be used.
    private func open() throws(DiskCacheError) {
        // Tested now, so that a file system without unnamed files is detected at the start and not by the
        // first request.
        _ = try folder.stage()
        do throws(DiskCacheError) {
            try openIndex()
        } catch  where error.isIndexUnusable && folder.hasFile(DiskIndex.fileName) {
            // SQLite reports a missing page of its shared memory as an I/O error; a sound index is not
            // set aside for that.
            guard !folder.isNearlyFull else { throw .full }
            try index.setAside(in: folder)
            try openIndex()
        }
    }

    /// What a start does: (1) `FolderLock` shows how the last process ended. (2) The index is opened, or made anew; after an end
    /// that may have lost commits a generation begins. (3) The lock names this boot. (4) `DiskWriter.stepLoad` reads all rows.
    /// (5) `DiskWriter.stepScan` finds the files without rows, if there may be some: after an end that was not in order or came
    /// before the end of a scan, and with a new index. Look-ups work from (3) on.
    private func openIndex() throws(DiskCacheError) {
        try index.open(blockSize: folder.blockSize)
        // The tags of existing entries were in another index.
        if index.state.isNew, !folder.hasEntries { try index.markLinksComplete() }
        // The last commits may not have reached the disk.
        if lock.wasCutOff { try index.beginUntrustedGeneration() }
        try lock.markInUse()
    }

    /// Runs a step that needs some space; on a full disk again, in that of some entries.
    func withSpace<Value>(_ step: () throws(DiskCacheError) -> Value) throws(DiskCacheError) -> Value {
        do {
            return try step()
        } catch .full {
            try folder.removeRandomEntries()
            return try step()
        }
    }

    /// How much may be stored, and for how long.
    var bounds: DiskBounds {
        get { currentBounds.withLock { $0 } }
        set { currentBounds.withLock { $0 = newValue } }
    }

    // MARK: - Failures

    /// Whether the tier is off.
    var isOff: Bool { outage.withLock { $0 != nil } }

    /// Throws why the tier is off, if it is.
    func requireOn() throws(DiskCacheError) {
        if let outage = outage.withLock({ $0 }) { throw outage }
    }

    /// Counts changes that failed, and reports what that means for the tier.
    func failed(with error: DiskCacheError, changes: Int = 1) {
        if error != .purged, error != .tooLarge { counters.withLock { $0.writeErrors += changes } }
        report { $0.failed(with: error, at: $1) }
    }

    /// Records what a store says of the tier's health at this time, and reports an event that follows.
    func report(_ change: (inout DiskHealth, Int64) -> DiskEvent?) {
        if let event = health.withLock({ change(&$0, clock()) }) { onEvent(event) }
    }

    // MARK: - Space

    /// How many bytes of the disk the tier takes in addition to its entries, as last measured.
    var overheadBytes: Int64 { overhead.load(ordering: .relaxed) }

    /// Most bytes of entries if everything may take `total`: always half.
    func entryBytes(of total: Int64) -> Int64 { max(total / 2, total - overheadBytes) }

    /// Measures all that the tier takes in addition to its entries: some thousand fstatat(2).
    func measure() {
        // Ignored: why the folder can't be read; the last measurement counts until it can.
        guard let bytes = try? folder.overheadBytes() else { return }
        overhead.store(bytes, ordering: .relaxed)
    }

    // MARK: - Files

    /// Opens a file for the body of a future entry.
    func stage(
        kind: EntryKind, keyText: String, countedBy files: BodyFiles? = nil
    ) throws(DiskCacheError) -> StagedEntry {
        try requireOn()
        guard let offset = DiskEntry.bodyOffset(keyText: keyText) else {
            throw .invalid("the key's text is longer than \(DiskEntry.maxKeyTextLength) bytes")
        }
        return StagedEntry(
            file: try folder.stage(countedBy: files), bodyOffset: offset, kind: kind, keyText: keyText)
    }

    /// Writes the header in front of a body that is written already, so that the file describes itself.
    ///
    /// - Parameter checksum: the body's CRC32C; if it is nil the body is read once.
    func finish(
        _ staged: StagedEntry, _ description: EntryDescription, _ record: SourceRecord?, byteCount: Int,
        checksum: UInt32?, durable: Bool
    ) throws(DiskCacheError) -> IndexEntry {
        let end = staged.bodyOffset + Int64(byteCount)
        let body = try EntryFile(staged.file)
        guard body.identity.size >= end || byteCount == 0 else {
            throw .invalid("the body is shorter than \(byteCount) bytes")
        }
        if body.identity.size != end, ftruncate(staged.file.raw, off_t(end)) != 0 {
            throw DiskCacheError("ftruncate", code: errno)
        }
        var known = checksum
        if known == nil { known = try body.checksum(staged.bodyOffset..<end, fromMemory: false) }
        let entry = DiskEntry(
            description: description, bodyLength: Int64(byteCount), bodyChecksum: known ?? 0,
            record: record.flatMap { StoredRecord(inFile: $0, generation: index.state.generation) })
        try staged.file.write(entry.encoded(), at: 0)
        if durable { try staged.file.sync() }
        return IndexEntry(entry, accessedAt: clock())
    }
}
