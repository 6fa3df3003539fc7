// SPDX-License-Identifier: Apache-2.0

package import Primitives
import Synchronization

/// A body that is still being received: one writer appends; several readers read it, each from the beginning
/// at its own rate.
///
/// The bytes collect in memory up to a limit and move into a file beyond it, so a large body is never
/// completely in memory. Hash and checksum are updated with each append. One thread at a time may append and
/// end it (the loader's); any task may read.
package final class PartialBody: Sendable {
    /// The bounds of one body in memory.
    package struct Configuration: Sendable, Hashable {
        /// The maximum number of bytes in memory; a longer body moves into a file.
        ///
        /// Default 64KiB.
        package var memoryLimit: ByteCount = .kibibytes(64)
        /// The maximum number of leading bytes that stay in memory, from which the format is recognized.
        ///
        /// Default 4KiB.
        var prefixLimit: ByteCount = .kibibytes(4)

        /// The defaults.
        package init() {}
    }

    /// A complete body with its digests.
    package struct Content: Sendable {
        /// The bytes.
        package let body: StoredBody
        /// Their SHA-256.
        package let hash: ContentHash
        /// Their CRC32C.
        package let checksum: UInt32
    }

    private let configuration: Configuration
    private let makeSpill: @Sendable () throws(BodyError) -> FilePlace
    private let makeFallback: (@Sendable () throws(BodyError) -> FilePlace)?
    private let state = Mutex(PartialBodyState())
    /// Used only by the writer, which never waits for it; so it may be locked during I/O.
    private let writer = Mutex(PartialBodyWriter())

    /// Creates an empty body.
    ///
    /// - Parameters:
    ///   - configuration: how many bytes stay in memory.
    ///   - makeSpill: creates the file for a body beyond its memory limit; called at most once, on the
    ///     writer's thread.
    ///   - makeFallback: creates a fallback if that file accepts no more bytes, for example on a full disk;
    ///     likewise.
    package init(
        configuration: Configuration = Configuration(),
        makeSpill: @escaping @Sendable () throws(BodyError) -> FilePlace,
        makeFallback: (@Sendable () throws(BodyError) -> FilePlace)? = nil
    ) {
        self.configuration = configuration
        self.makeSpill = makeSpill
        self.makeFallback = makeFallback
    }

    // MARK: - Writing

    /// Reserves memory or a file for a body of `count` bytes; more or fewer may follow.
    /// - Throws: why the file can't be created.
    package func expect(_ count: Int) throws(BodyError) {
        guard count <= configuration.memoryLimit.bytes else { return try secureSpill() }
        state.withLock { $0.reserve(count) }
    }

    /// Creates the file for a body that may exceed its memory limit, before the response is accepted.
    /// - Throws: why it can't be created.
    package func secureSpill() throws(BodyError) {
        try writer.withLock { writer throws(BodyError) in
            guard writer.spill == nil, writer.secured == nil else { return }
            writer.secured = try makeSpill()
        }
    }

    /// Adds `bytes` and wakes the readers that wait for them.
    ///
    /// May write to a file, so it may block for as long as the page cache does.
    /// - Throws: `BodyError.storage` if the bytes can't be stored; the body has then failed for its readers,
    ///   too.
    package func append(_ bytes: UnsafeRawBufferPointer) throws(BodyError) {
        guard unsafe !bytes.isEmpty else { return }
        do {
            try writer.withLock { writer throws(BodyError) in
                unsafe writer.digest(bytes)
                try unsafe keep(bytes, &writer)
            }
        } catch {
            fail(error)
            throw error
        }
        wake(state.withLock { $0.readyWaiters() })
    }

    /// Completes the body; the writer must not append afterwards.
    package func finish() {
        let (hash, checksum) = writer.withLock { ($0.hash, $0.checksum) }
        wake(state.withLock { $0.end(.complete(hash, checksum: checksum)) })
    }

    /// Ends the body before its last byte; a complete body stays complete.
    package func fail(_ error: BodyError = .incomplete) {
        wake(state.withLock { $0.end(.failed(error)) })
    }

    private func keep(_ bytes: UnsafeRawBufferPointer, _ writer: inout PartialBodyWriter) throws(BodyError) {
        let count = writer.count
        if let spill = writer.spill {
            do {
                try unsafe spill.file.writeAll(bytes, at: spill.offset + Int64(count - bytes.count))
            } catch {
                return try unsafe moveToFallback(from: spill, because: error, with: bytes, &writer)
            }
            state.withLock {
                unsafe $0.advance(to: count, by: bytes, prefixLimit: configuration.prefixLimit.bytes)
            }
        } else if count > configuration.memoryLimit.bytes {
            let spill = if let secured = writer.secured { secured } else { try makeSpill() }
            writer.secured = nil
            try unsafe move(into: spill, followedBy: bytes, &writer)
        } else {
            state.withLock { unsafe $0.append(bytes, prefixLimit: configuration.prefixLimit.bytes) }
        }
    }

    /// Writes the bytes in memory and then `bytes` into `spill`; readers see the file only after that.
    private func move(
        into spill: FilePlace, followedBy bytes: UnsafeRawBufferPointer, _ writer: inout PartialBodyWriter
    ) throws(BodyError) {
        let earlier = state.withLock { $0.memory }
        do {
            try spill.file.writeAll(earlier, at: spill.offset)
            try unsafe spill.file.writeAll(bytes, at: spill.offset + Int64(earlier.count))
        } catch {
            guard writer.canMoveToFallback, let fallback = try makeFallback?() else { throw error }
            writer.canMoveToFallback = false
            return try unsafe move(into: fallback, followedBy: bytes, &writer)
        }
        writer.spill = spill
        state.withLock {
            $0.move(into: spill)
            unsafe $0.advance(
                to: earlier.count + bytes.count, by: bytes, prefixLimit: configuration.prefixLimit.bytes)
        }
    }

    /// Copies the bytes of a file to the fallback and continues there; readers of the file keep the bytes
    /// that they have.
    private func moveToFallback(
        from spill: FilePlace, because error: BodyError, with bytes: UnsafeRawBufferPointer,
        _ writer: inout PartialBodyWriter
    ) throws(BodyError) {
        guard writer.canMoveToFallback, let fallback = try makeFallback?() else { throw error }
        writer.canMoveToFallback = false
        let earlier = writer.count - bytes.count
        var done = 0
        while done < earlier {
            let count = min(configuration.memoryLimit.bytes, earlier - done)
            let piece = try spill.file.readAll(from: spill.offset + Int64(done), count: count)
            try fallback.file.writeAll(piece, at: fallback.offset + Int64(done))
            done += count
        }
        try unsafe fallback.file.writeAll(bytes, at: fallback.offset + Int64(earlier))
        writer.spill = fallback
        let count = writer.count
        state.withLock {
            $0.move(into: fallback)
            unsafe $0.advance(to: count, by: bytes, prefixLimit: configuration.prefixLimit.bytes)
        }
    }

    // MARK: - Reading

    /// The number of bytes so far.
    package var count: Int { state.withLock { $0.count } }

    /// The leading bytes so far, up to the configured limit, from which the format is recognized.
    package var prefix: [UInt8] { state.withLock { $0.prefix } }

    /// The complete body with its digests; nil until it is complete, or if it failed.
    package var content: Content? { state.withLock { $0.content } }

    /// The result of `poll`.
    package enum PollResult {
        /// The next bytes.
        case piece(StoredBody)
        /// No byte yet; carries the waiter's id, for `leave`.
        case nothingYet(UInt64)
        /// The end of a complete body.
        case end
        /// The error that ended the body.
        case failed(BodyError)
    }

    /// Returns the bytes at `offset` without waiting: up to `max` bytes from memory, all from a file.
    ///
    /// Without a byte, `wake` is called on the writer's thread when there is one, or when the body has ended.
    package func poll(at offset: Int, max: Int, orWake wake: @escaping @Sendable () -> Void) -> PollResult {
        state.withLock { $0.poll(at: offset, max: max, orWake: wake) }
    }

    /// Stops waiting; `wake` may be running at the same time.
    package func leave(_ waiter: UInt64) {
        state.withLock { $0.leave(waiter) }
    }

    /// Whether more bytes may follow.
    package var isIncomplete: Bool { state.withLock { !$0.hasEnded } }

    private func wake(_ waiters: [@Sendable () -> Void]) {
        for waiter in waiters { waiter() }
    }
}
