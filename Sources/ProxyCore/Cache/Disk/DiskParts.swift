// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// What the reading and the writing side of the disk tier share; each part is safe on its own.
final class DiskParts: Sendable {
    let configuration: DiskCacheConfiguration
    /// How much may be kept, and for how long; can change.
    let bounds: Mutex<DiskBounds>
    /// Returns the time in seconds since 1970.
    let clock: @Sendable () -> Int64
    let folder: DiskFolder
    let lock: FolderLock
    let journal: CommitJournal
    let revocations: RevocationCount
    let ballast: Ballast
    let index: DiskIndex
    /// Whether the index is new or lacks changes, or the machine was cut off: then there may be files that it does not know.
    let needsScan: Bool
    let entries = EntrySet()
    let counters = DiskCounters()
    let monitor: DiskMonitor
    let touches: PendingTouches
    let tags = KnownTags()
    /// The files that clients are answered from, or will be.
    let bodies = BodyFiles()
    let verified: VerifiedFiles
    /// The files that are known to survive a loss of power.
    let secured = VerifiedFiles(capacity: 4_096)

    /// How many bytes of the disk the index takes with its journal; and what else but entries.
    private let indexBytes = Atomic<Int64>(0)
    private let otherBytes = Atomic<Int64>(0)

    private let sweepObserver = Mutex<SweepObserver?>(nil)
    private let unlinkObserver = Mutex<UnlinkObserver?>(nil)

    /// A closure in a struct: one that is the lock's own value is wrapped anew, and written back, each time it is read.
    private struct SweepObserver {
        let tell: @Sendable ([EntryID]) -> Void
    }

    private struct UnlinkObserver {
        let tell: @Sendable ([TagLink], Bool) -> Void
    }

    /// Why nothing is stored or found for now; nil while the tier works.
    private let reason = Mutex<DiskCacheError?>(nil)
    private let hasNoFolder = Atomic(false)

    /// What is found, or made, in the folder.
    private struct Opened {
        let folder: DiskFolder
        let lock: FolderLock
        let journal: CommitJournal
        let revocations: RevocationCount
        let index: DiskIndex
        var isNew = false
        var needsScan = false
    }

    /// Opens everything in the folder, and sets right what a crash in the middle of a batch has left.
    ///
    /// Blocking: for the lock at most `patience`, else some milliseconds, however much the folder holds. Where nothing can be
    /// written, the tier is off until that changes.
    init(
        directory: String, configuration: DiskCacheConfiguration, patience: TimeSpan,
        clock: @escaping @Sendable () -> Int64, report: @escaping @Sendable (DiskNotice) -> Void
    ) throws(DiskCacheError) {
        self.configuration = configuration
        bounds = Mutex(DiskBounds(configuration))
        self.clock = clock
        let limits = configuration.limits
        monitor = DiskMonitor(clock: clock, report: report)
        touches = PendingTouches(limit: limits.maxTouches)
        verified = VerifiedFiles(capacity: limits.maxVerified)
        var outage: DiskCacheError?
        let opened: Opened
        do {
            opened = try Self.open(directory, configuration, patience, clock)
        } catch .system(let call, EROFS) {
            outage = .system(call: call, code: EROFS)
            opened = try Self.nothing(directory, configuration)
        }
        (folder, lock, journal) = (opened.folder, opened.lock, opened.journal)
        (revocations, index, needsScan) = (opened.revocations, opened.index, opened.needsScan)
        ballast = Ballast(folder: opened.folder, size: configuration.ballastSize)
        index.blockSize.store(folder.blockSize, ordering: .relaxed)
        if let outage {
            switchOff(because: outage)
            monitor.failed(with: outage)
        } else {
            ballast.fill()
            if opened.isNew, folder.hasEntries { monitor.tell(.indexReplaced) }
        }
    }

    /// Tells who keeps files open what has been swept away.
    func tellSwept(_ entries: [EntryID]) {
        sweepObserver.withLock { $0 }?.tell(entries)
    }

    /// Has one observer hear what is swept away; called on the writer's thread.
    func whenSwept(_ observer: @escaping @Sendable ([EntryID]) -> Void) {
        sweepObserver.withLock { $0 = SweepObserver(tell: observer) }
    }

    /// Tells who holds results in memory of links that were forgotten for lack of room: before and behind that.
    func tellUnlinked(_ links: [TagLink], isDone: Bool) {
        unlinkObserver.withLock { $0 }?.tell(links, isDone)
    }

    /// Has one observer hear of links that are forgotten; called on the writer's thread.
    func whenUnlinked(_ observer: @escaping @Sendable ([TagLink], _ isDone: Bool) -> Void) {
        unlinkObserver.withLock { $0 = UnlinkObserver(tell: observer) }
    }

    // MARK: - Space

    /// How many bytes of the disk the tier takes beside its entries, as last measured.
    var overheadBytes: Int64 { indexBytes.load(ordering: .relaxed) + otherBytes.load(ordering: .relaxed) }

    /// Most bytes of entries where all may be `total`.
    func entryBytes(of total: Int64) -> Int64 { DiskBounds.entryBytes(of: total, beside: overheadBytes) }

    /// Measures what the index and its journal take: two fstatat(2).
    func measureIndex() {
        indexBytes.store(Self.indexFiles.reduce(0) { $0 + folder.allocatedBytes($1) }, ordering: .relaxed)
    }

    /// Measures all that the tier takes beside its entries: some thousand fstatat(2).
    func measure() {
        measureIndex()
        // Lost: why the folder can't be read; what was measured before holds until it can.
        guard let bytes = try? folder.overheadBytes(without: Self.indexFiles) else { return }
        otherBytes.store(bytes, ordering: .relaxed)
    }

    private static let indexFiles: Set<String> = [DiskIndex.fileName, DiskIndex.fileName + "-wal"]

    /// Why the tier stores and finds nothing for now; nil while it works.
    var outage: DiskCacheError? { isOff ? reason.withLock { $0 } : nil }

    /// Hot path: whether it does neither.
    var isOff: Bool { hasNoFolder.load(ordering: .acquiring) }

    /// Has it do neither, for it has no folder that it could write in.
    func switchOff(because error: DiskCacheError) {
        reason.withLock { $0 = error }
        hasNoFolder.store(true, ordering: .releasing)
    }

    /// It has a folder again.
    func switchOn() { hasNoFolder.store(false, ordering: .releasing) }

    /// Stands in for what can't be opened on a file system that is read only: a folder that is not touched.
    private static func nothing(
        _ directory: String, _ configuration: DiskCacheConfiguration
    ) throws(DiskCacheError) -> Opened {
        let folder = try DiskFolder(existing: directory)
        return Opened(
            folder: folder, lock: try FolderLock(),
            journal: try CommitJournal(capacity: max(1, configuration.limits.batchSize)),
            revocations: try RevocationCount(),
            index: DiskIndex(
                detachedFrom: "\(folder.path)/\(DiskIndex.fileName)", configuration: configuration))
    }

    private static func open(
        _ directory: String, _ configuration: DiskCacheConfiguration, _ patience: TimeSpan,
        _ clock: () -> Int64
    ) throws(DiskCacheError) -> Opened {
        let limits = configuration.limits
        let folder = try DiskFolder(path: directory)
        let lock = try FolderLock(folder: folder, patience: patience)
        let ballast = Ballast(folder: folder, size: configuration.ballastSize)
        let log = "\(folder.path)/\(DiskIndex.fileName)-wal"
        let isCut = WriteAheadLog.hasLostFrames(at: log)
        let isLogMissing = lock.wasLeft && WriteAheadLog.isMissing(at: log)
        var (opened, counted) = try withRoom(folder, ballast, limits) { () throws(DiskCacheError) in
            // Asked now, so that a file system without them is found at the start and not by the first request.
            _ = try folder.stage()
            let journal = try CommitJournal(folder: folder, capacity: max(1, limits.batchSize))
            let revocations = try RevocationCount(folder: folder)
            let (index, isNew) = try DiskIndex.openOrRebuild(in: folder, configuration: configuration)
            let opened = Opened(
                folder: folder, lock: lock, journal: journal, revocations: revocations, index: index,
                isNew: isNew)
            return (opened, try revocations.read())
        }
        let isSound = !lock.wasCutOff && !isLogMissing
        do {
            try settle(&opened, counted, isSound: isSound, isCut: isCut, ballast, limits, clock)
        } catch .brokenIndex {
            // Some damage shows only in a page that has to be changed.
            try DiskIndex.setAside(in: folder)
            try opened.index.reopen()
            opened.isNew = true
            try settle(&opened, counted, isSound: isSound, isCut: isCut, ballast, limits, clock)
        }
        return opened
    }

    /// Sets an index right that has just been opened, and finds out what of it is to be believed.
    ///
    /// - Parameters:
    ///   - counted: how many revocations there have been.
    ///   - isSound: whether the last run's end has lost nothing.
    ///   - isCut: whether it has lost some of the index's log.
    private static func settle(
        _ opened: inout Opened, _ counted: Int64, isSound: Bool, isCut: Bool, _ ballast: Ballast,
        _ limits: DiskCacheConfiguration.Limits, _ clock: () -> Int64
    ) throws(DiskCacheError) {
        let (folder, index, journal) = (opened.folder, opened.index, opened.journal)
        let lacksRevocations = isCut || counted > index.revocations.load(ordering: .acquiring)
        let isSettled = try withRoom(folder, ballast, limits) { () throws(DiskCacheError) in
            try settle(folder, journal, index, clock)
        }
        let knowsAll = try index.knowsAllFiles()
        opened.needsScan = opened.isNew || !isSound || lacksRevocations || !knowsAll || !isSettled
        // Whoever is ended before all has been looked through leaves the rest to the next start.
        if opened.needsScan, knowsAll {
            try withRoom(folder, ballast, limits) { () throws(DiskCacheError) in
                try index.setKnowsAllFiles(false)
            }
        }
        let (revocations, wasCutOff) = (opened.revocations, opened.lock.wasCutOff)
        try withRoom(folder, ballast, limits) { () throws(DiskCacheError) in
            if lacksRevocations {
                try index.doubtEverything(counted)
                try revocations.write(index.revocations.load(ordering: .acquiring), durable: false)
            } else if wasCutOff {
                // What the index knew to be superseded may not have reached the disk.
                try index.beginEpoch()
            }
        }
    }

    /// Does a step of the start that needs some room; on a full disk again, in that of the ballast, or else of entries.
    private static func withRoom<Value>(
        _ folder: DiskFolder, _ ballast: Ballast, _ limits: DiskCacheConfiguration.Limits,
        _ step: () throws(DiskCacheError) -> Value
    ) throws(DiskCacheError) -> Value {
        do {
            return try step()
        } catch .full {
            if ballast.release() {
                do { return try step() } catch .full {}
            }
            try folder.makeRoom(for: max(limits.ballast.bytes, minRoom))
            return try step()
        }
    }

    /// What a start needs at most: the index's shared memory and some pages, in bytes.
    private static let minRoom = 1 << 20

    /// Sets the index right about the entries of the last batch, whatever became of it.
    ///
    /// The interleavings of a crash, per entry: 1. before linkat: an older file or none is there, and the index may know it;
    /// 2. between linkat and rename: the entry's `.new` is left over; 3. before the index's commit: the file is there and
    /// the index knows nothing of it, or only of the older one. So: remove the `.new`, and tell the index what is there.
    ///
    /// - Returns: false where a file can't be read or removed: then all have to be looked through once that is healed.
    private static func settle(
        _ folder: DiskFolder, _ journal: CommitJournal, _ index: DiskIndex, _ clock: () -> Int64
    ) throws(DiskCacheError) -> Bool {
        let block = try journal.read()
        var changes: [IndexChange] = []
        var isSettled = true
        for id in block.entries {
            do throws(DiskCacheError) {
                try folder.unlink(id, .new)
                changes.append(try adoption(of: id, in: folder, at: clock()).map { .put($0) } ?? .delete(id))
            } catch  where error.isOfOneFile {
                changes.append(.delete(id))
                isSettled = false
            }
        }
        if block.removesEverything {
            try folder.discardEverything()
            changes = [.deleteEverything(keepingTags: false)]
        }
        if !changes.isEmpty { _ = try index.apply(changes, durable: false) }
        try journal.write(CommitJournal.Block())
        return isSettled
    }

    /// What the index has to know of an entry's file; nil when there is none, or none that is valid: then it is gone now.
    func adoption(of id: EntryID) throws(DiskCacheError) -> IndexEntry? {
        try Self.adoption(of: id, in: folder, at: clock())
    }

    private static func adoption(
        of id: EntryID, in folder: DiskFolder, at now: Int64
    ) throws(DiskCacheError) -> IndexEntry? {
        guard case .file(let file) = try folder.open(id, fromMemory: false) else { return nil }
        guard let entry = try EntryFile(file: file, status: folder.status(of: file)).header(), entry.id == id
        else {
            try folder.unlink(id)
            return nil
        }
        return IndexEntry(
            id: id, sourceKey: entry.description.sourceKey, bytes: entry.fileLength,
            storedAt: entry.description.storedAt, accessedAt: now)
    }
}
