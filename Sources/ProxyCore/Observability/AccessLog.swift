// SPDX-License-Identifier: Apache-2.0

/// One line for each request at its end: recorded in a few hundred nanoseconds on the event loop, written
/// elsewhere.
///
/// Each event loop has a buffer: a bounded list under a lock that only the loop and the writer take, the
/// writer just to swap it for an empty one. A full buffer drops records and counts them. The writer's thread
/// sleeps until a record comes, then collects for `linger` before it writes, so that a busy daemon writes in
/// batches and an idle one never wakes.
package final class AccessLog: Sendable {
    /// How long the writer collects records, in milliseconds; the maximum delay of a line.
    static let linger: Int32 = 50

    @usableFromInline let access: LogConfiguration.Access
    /// How much of a source's URL a line contains.
    package let url: LogConfiguration.URLDetail
    private let buffers: [AccessBuffer]
    private let writer: AccessLogWriter

    /// Starts the writer's thread.
    ///
    /// - Parameters:
    ///   - configuration: the settings, with `auto` resolved.
    ///   - count: how many event loops there are.
    ///   - sink: where lines are written; it takes datagrams if the format is `journald`.
    /// - Throws: if the thread or its wake-up descriptor can't be created.
    package init(configuration: LogConfiguration, buffers count: Int, sink: LogSink) throws(LogSink.Failure) {
        access = configuration.access
        url = configuration.url
        let buffers = (0..<max(1, count)).map { _ in AccessBuffer(capacity: configuration.accessRecords) }
        self.buffers = buffers
        writer = try AccessLogWriter(buffers: buffers, format: configuration.format, sink: sink)
    }

    deinit {
        writer.close()
    }

    /// Hot path: whether a request gets a line; called before a record is made.
    @inlinable
    package func wants(status: Int, cache: Metric.Cache) -> Bool {
        access.wants(status: status, cache: cache)
    }

    /// Hot path: stores a record, or counts it as dropped if the buffer is full.
    ///
    /// `buffer` is the loop's number; other threads use any.
    package func record(_ record: AccessRecord, buffer: Int) {
        let needsWriter = buffers[buffer % buffers.count].append(record)
        writer.wake(atOnce: needsWriter)
    }

    /// Records lost so far, to full buffers or failed writes.
    package var dropped: Int {
        buffers.reduce(writer.lost) { $0 + $1.dropped }
    }

    /// Writes what is left and ends the thread; later records are lost. Blocks while the sink does.
    package func close() {
        writer.close()
    }
}
