// SPDX-License-Identifier: Apache-2.0

/// The state that the readers of a growing body share: its bytes, its end, and the waiters.
struct PartialBodyState {
    /// How a body ended.
    enum End {
        /// All bytes are present; carries their digests.
        case complete(ContentHash, checksum: UInt32)
        /// No more bytes will follow.
        case failed(BodyError)
    }

    /// The result of a look at an offset.
    enum Found {
        /// Bytes.
        case ready(StoredBody)
        /// The end of a complete body.
        case end
        /// No byte yet, or none ever: see `failure(at:)`.
        case pending
    }

    private struct Waiter {
        let id: UInt64
        let offset: Int
        let wake: @Sendable () -> Void
    }

    /// All bytes as long as they are in memory; empty once they are in the file.
    private(set) var memory: [UInt8] = []
    /// The leading bytes, which stay in memory.
    private(set) var prefix: [UInt8] = []
    /// The number of readable bytes.
    private(set) var count = 0

    private var spill: SpillFile?
    private var end: End?
    /// At most one for each reader.
    private var waiters: [Waiter] = []
    /// Waiters that were cancelled before they had been added.
    private var dismissed: Set<UInt64> = []
    private var lastWaiter: UInt64 = 0

    // MARK: - Bytes

    /// Reserves memory for `count` bytes at once: an array that grows piece by piece is copied, and keeps
    /// twice as much.
    mutating func reserve(_ count: Int) {
        memory.reserveCapacity(count)
    }

    /// Adds bytes in memory.
    mutating func append(_ bytes: UnsafeRawBufferPointer, prefixLimit: Int) {
        unsafe memory.append(contentsOf: bytes)
        unsafe advance(to: memory.count, by: bytes, prefixLimit: prefixLimit)
    }

    /// Replaces the bytes in memory by a file that contains at least them, and frees the memory.
    mutating func move(into spill: SpillFile) {
        self.spill = spill
        memory = []
    }

    /// Sets the number of readable bytes to `count`, of which `bytes` are the last.
    mutating func advance(to count: Int, by bytes: UnsafeRawBufferPointer, prefixLimit: Int) {
        if prefix.count < prefixLimit {
            unsafe prefix.append(contentsOf: bytes.prefix(prefixLimit - prefix.count))
        }
        self.count = count
    }

    /// Whether the body is complete or has failed.
    var hasEnded: Bool { end != nil }

    /// Whether the bytes are in a file.
    var isInFile: Bool { spill != nil }

    /// Returns up to `max` bytes from `offset` on.
    func piece(at offset: Int, max: Int) -> Found {
        guard offset < count else {
            if case .complete = end { return .end }
            return .pending
        }
        let length = min(Swift.max(1, max), count - offset)
        if let spill {
            return .ready(.file(spill.file, offset: spill.offset + Int64(offset), length: Int64(length)))
        }
        return .ready(.bytes(Array(memory[offset..<offset + length])))
    }

    /// The complete body; nil before.
    var content: PartialBody.Content? {
        guard case .complete(let hash, let checksum) = end else { return nil }
        let body: StoredBody =
            spill.map { .file($0.file, offset: $0.offset, length: Int64(count)) } ?? .bytes(memory)
        return PartialBody.Content(body: body, hash: hash, checksum: checksum)
    }

    /// Why no byte will follow at `offset`; nil as long as one may.
    func failure(at offset: Int) -> BodyError? {
        guard offset >= count, case .failed(let error) = end else { return nil }
        return error
    }

    // MARK: - Waiters

    /// Returns the id of a new waiter.
    mutating func newWaiterID() -> UInt64 {
        lastWaiter += 1
        return lastWaiter
    }

    /// Adds a waiter; true if there is nothing to wait for and the caller has to wake it.
    mutating func enlist(
        _ id: UInt64, beyond offset: Int, _ wake: @escaping @Sendable () -> Void
    ) -> Bool {
        if dismissed.remove(id) != nil || end != nil || offset < count { return true }
        waiters.append(Waiter(id: id, offset: offset, wake: wake))
        return false
    }

    /// Removes a waiter because its task was cancelled; the caller has to wake it.
    ///
    /// The cancellation may come 1. before the waiter was added: then `enlist` finds the mark; 2. while it
    /// waits: then it is removed; 3. after it was woken: then `enlist` is not called again, and `forget`
    /// removes the mark.
    mutating func dismiss(_ id: UInt64) -> (@Sendable () -> Void)? {
        guard let index = waiters.firstIndex(where: { $0.id == id }) else {
            dismissed.insert(id)
            return nil
        }
        return waiters.remove(at: index).wake
    }

    /// Removes a waiter without a task.
    mutating func strike(_ id: UInt64) {
        waiters.removeAll { $0.id == id }
    }

    /// Removes the mark of a cancellation that came too late; called when a wait is over.
    mutating func forget(_ id: UInt64) {
        dismissed.remove(id)
    }

    /// Removes and returns the waiters that may continue; the caller has to wake them.
    mutating func readyWaiters() -> [@Sendable () -> Void] {
        let ready = waiters.filter { end != nil || $0.offset < count }
        guard !ready.isEmpty else { return [] }
        waiters.removeAll { end != nil || $0.offset < count }
        return ready.map(\.wake)
    }

    /// Ends the body unless it has ended, and removes and returns all waiters.
    mutating func end(_ end: End) -> [@Sendable () -> Void] {
        if self.end == nil { self.end = end }
        return readyWaiters()
    }
}
