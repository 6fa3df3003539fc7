// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Primitives
import Synchronization

/// The thread that formats and writes the access log.
///
/// It waits in poll(2) on an eventfd. The order that prevents a lost wake-up: (1) the writer sets that it
/// waits, (2) then checks whether the buffers are empty, (3) then waits; a loop (a) appends, (b) then checks
/// whether the writer waits. Buffers have locks: if (2) missed (a), then (b) sees (1), and writes the
/// eventfd.
final class AccessLogWriter: Sendable {
    private let buffers: [AccessBuffer]
    private let format: LogConfiguration.Format
    private let sink: LogSink
    private let wakeUp: Int32
    private let isParked = Atomic(false)
    private let isClosing = Atomic(false)
    private let lostCount = Atomic(0)
    private let thread = Mutex<pthread_t?>(nil)

    /// Starts the thread.
    init(buffers: [AccessBuffer], format: LogConfiguration.Format, sink: LogSink) throws(LogSink.Failure) {
        self.buffers = buffers
        self.format = format
        self.sink = sink
        wakeUp = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard wakeUp >= 0 else { throw LogSink.Failure(call: "eventfd", code: errno) }
        try start()
    }

    deinit {
        if wakeUp >= 0 { Glibc.close(wakeUp) }
    }

    /// Records lost to failed writes.
    var lost: Int { lostCount.load(ordering: .relaxed) }

    /// Hot path: makes the thread check the buffers soon; one load if it is awake.
    func wake(atOnce: Bool) {
        guard atOnce || isParked.load(ordering: .sequentiallyConsistent) else { return }
        if isParked.exchange(false, ordering: .sequentiallyConsistent) || atOnce { signal() }
    }

    /// Makes the thread write what is left, and waits for its end.
    func close() {
        isClosing.store(true, ordering: .sequentiallyConsistent)
        signal()
        let handle = thread.withLock { handle in
            defer { handle = nil }
            return handle
        }
        if let handle { pthread_join(handle, nil) }
    }

    private func signal() {
        var one: UInt64 = 1
        // Ignored: nothing; a full eventfd wakes the thread as well.
        _ = unsafe Glibc.write(wakeUp, &one, MemoryLayout<UInt64>.size)
    }

    // MARK: - The thread

    private func start() throws(LogSink.Failure) {
        do throws(BlockingThread.StartError) {
            let handle = try BlockingThread.start { self.run() }
            thread.withLock { $0 = handle }
        } catch {
            throw LogSink.Failure(call: "pthread_create", code: error.code)
        }
    }

    private func run() {
        var spare: [AccessRecord] = []
        var line = AccessLine(isJSON: format == .json)
        var lines = LineBuffer(capacity: Self.usualBatch)
        while true {
            let isLast = isClosing.load(ordering: .sequentiallyConsistent)
            for buffer in buffers {
                buffer.swap(with: &spare)
                write(spare, &line, &lines)
                spare.removeAll(keepingCapacity: true)
            }
            if isLast { return }
            sleepUntilRecord()
        }
    }

    private func sleepUntilRecord() {
        waitForSignal(milliseconds: AccessLog.linger)
        isParked.store(true, ordering: .sequentiallyConsistent)
        if buffers.allSatisfy(\.isEmpty), !isClosing.load(ordering: .sequentiallyConsistent) {
            waitForSignal(milliseconds: -1)
            if !isClosing.load(ordering: .sequentiallyConsistent) {
                waitForSignal(milliseconds: AccessLog.linger)
            }
        }
        isParked.store(false, ordering: .sequentiallyConsistent)
    }

    private func waitForSignal(milliseconds: Int32) {
        var entry = pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, milliseconds) > 0 else { return }
        var count: UInt64 = 0
        _ = unsafe read(wakeUp, &count, MemoryLayout<UInt64>.size)
    }

    private func write(
        _ records: [AccessRecord], _ line: inout AccessLine, _ lines: inout LineBuffer
    ) {
        guard !records.isEmpty else { return }
        // From the monotonic clock of the records to the time of day.
        let offset = SystemTime.nanoseconds(of: CLOCK_REALTIME) - SystemTime.nanoseconds(of: CLOCK_MONOTONIC)
        func milliseconds(_ record: AccessRecord) -> Int64 {
            (Int64(clamping: record.finishedAt) + offset) / 1_000_000
        }
        if sink.takesDatagrams {
            for record in records {
                let entry = record.entry(at: milliseconds(record), as: format)
                if !sink.write(entry.bytes(as: format)) { lostCount.add(1, ordering: .relaxed) }
            }
            return
        }
        for record in records {
            line.append(record, at: milliseconds(record), to: &lines)
        }
        let lost = unsafe lines.withBytes { lines in
            let taken = unsafe sink.take(lines)
            return unsafe lines[taken...].count { $0 == UInt8(ascii: "\n") }
        }
        if lost > 0 { lostCount.add(lost, ordering: .relaxed) }
        lines.removeAll()
    }

    /// Capacity for the lines of a usual batch, in bytes.
    private static let usualBatch = 1 << 16
}
