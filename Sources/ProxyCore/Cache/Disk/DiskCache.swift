// SPDX-License-Identifier: Apache-2.0

package import Bodies
import CLinux
import Dispatch
import Glibc
package import Primitives
import Synchronization

/// The disk tier: originals and results as self-describing files, and source records, in one folder of one
/// daemon.
///
/// A look-up asks a set in memory whether there may be a file, and then reads the file itself, never the
/// index; a hit is served only after the body has passed its checksum. Bodies and headers are written by many threads into
/// files without names; one thread names and removes files and writes the index, in batches, in an order that leaves a
/// correct answer or a clean miss wherever the process is killed. Safe from any thread; calls that may wait for the disk are `async` or say so, and all queues are bounded by
/// `configuration.limits`.
package final class DiskCache: Sendable {
    let storage: DiskStorage
    let writer: DiskWriter
    /// Reads and writes files.
    let ioThreads: IOQueue<DiskCacheError>
    /// Reads records from the index, one at a time, as its connection does: many long bodies to be checked do not delay them, and
    /// a source whose record can't be read for overload would be fetched.
    let recordReads: IOQueue<DiskCacheError>
    let buffer: WriteBuffer
    /// Read-only folders, in the order in which they are searched.
    let readOnlyFolders: [ReadOnlyFolder]

    /// Opens the tier in `directory`, which it creates if needed.
    ///
    /// Blocking: some milliseconds, however many entries there are, plus at most `lockTimeout` while another
    /// daemon still holds the folder. An index that cannot be used is set aside and rebuilt from the files,
    /// meanwhile look-ups query the file system.
    ///
    /// - Parameters:
    ///   - recordShare: how many bytes of source records may be in memory.
    ///   - clock: returns the time in seconds since 1970; the system's by default.
    ///   - pause: waits for so many microseconds between two steps of housekeeping; blocks the writer's thread.
    ///   - report: called with events for the operator; on any thread.
    /// - Throws: `locked`, `unsupported`, `full`, `readOnlyFolder`, or the call that failed.
    package init(
        directory: String, configuration: DiskCacheConfiguration = DiskCacheConfiguration(),
        lockTimeout: TimeSpan = .seconds(0), recordShare: MemoryShare = MemoryShare(bytes: 16 << 20),
        clock: @escaping @Sendable () -> Int64 = SystemTime.seconds,
        pause: @escaping @Sendable (UInt32) -> Void = { usleep($0) },
        report: @escaping @Sendable (DiskEvent) -> Void = { _ in }
    ) throws(DiskCacheError) {
        var folders: [ReadOnlyFolder] = []
        for path in configuration.readOnlyPaths { folders.append(try ReadOnlyFolder(path: path)) }
        readOnlyFolders = folders
        let limits = configuration.limits
        storage = try DiskStorage(
            directory: directory, configuration: configuration, lockTimeout: lockTimeout,
            recordShare: recordShare, clock: clock, report: report)
        buffer = WriteBuffer(maxBytes: limits.maxWaitingBytes.bytes)
        writer = DiskWriter(storage: storage, pause: pause)
        ioThreads = IOQueue(
            label: "disk cache I/O", maxRunning: limits.readers, maxWaiting: limits.maxWaitingReads,
            overloaded: .overloaded)
        recordReads = IOQueue(
            label: "disk cache records", maxRunning: 1, maxWaiting: limits.maxWaitingReads,
            overloaded: .overloaded)
        writer.start()
    }

    /// The files that clients are or will be answered from.
    package var bodies: BodyFiles { storage.bodies }

    /// Writes what has yet to be written, closes the index and releases the folder; a restart finds
    /// everything warm.
    ///
    /// Later calls that would change something throw `closed`.
    package func close() async {
        await writer.close()
    }

    /// Waits for the writer's thread to answer.
    package func ping() async {
        await writer.ping()
    }

    // MARK: - Housekeeping

    /// Applies other bounds from now on; what exceeds them is removed soon.
    ///
    /// Of `configuration` only `maxBytes`, `lowWater`, `maxAge` and `sweepInterval` count, the last after the
    /// next sweep.
    package func adopt(_ configuration: DiskCacheConfiguration) {
        storage.bounds = DiskBounds(configuration)
        writer.enqueue { (writer, _) in writer.mustSweep = true }
    }

    /// Hot path: records that an entry was served from another tier, so that a sweep does not count it as
    /// unused.
    package func recordAccess(_ key: CacheKey, kind: EntryKind) {
        storage.accesses.mark(EntryID(kind: kind, key: key), at: storage.clock())
    }

    /// Calls one observer with what a sweep removes, so that it closes the files; on the writer's thread.
    package func whenSwept(_ observer: @escaping @Sendable ([EntryID]) -> Void) {
        storage.observers.withLock { $0.swept = observer }
    }

    /// Calls one observer with links that are removed for lack of space; on the writer's thread, before their
    /// results are removed and their sources marked stale, and again after that.
    package func whenUnlinked(_ observer: @escaping @Sendable ([TagLink], _ isDone: Bool) -> Void) {
        storage.observers.withLock { $0.unlinked = observer }
    }

    /// Counts bytes that could not be written into a staged file.
    package func countWriteFailure() {
        failed(with: storage.folder.isNearlyFull ? .full : .system(call: "write", code: EIO))
    }

    /// Counts a store that failed, and starts removing entries if the disk is full.
    func failed(with error: DiskCacheError) {
        storage.failed(with: error)
        if storage.health.withLock({ $0.needsSpace || $0.mustReopen }) { writer.wake() }
    }

    /// The tier's contents and counters; takes some short locks.
    package var statistics: Statistics {
        var all = storage.counters.withLock { $0 }
        all.overheadBytes = storage.overheadBytes
        all.maxBytes = Int(storage.bounds.maxBytes)
        all.isOn = !storage.isOff
        all.isComplete = storage.entries.isComplete
        return all
    }
}
