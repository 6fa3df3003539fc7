// SPDX-License-Identifier: Apache-2.0

/// What readers of a growing body share: where its bytes lie, how it ended, and who waits.
struct GrowingBodyState {
    /// How a body ended.
    enum End {
        /// All bytes are there; carries their digests.
        case complete(ContentHash, checksum: UInt32)
        /// The rest will never come.
        case failed(LoadError)
    }

    /// What a reader finds at an offset.
    enum Found {
        /// Bytes.
        case ready(StoredBody)
        /// The end of a complete body.
        case end
        /// Nothing yet, or nothing ever: `failure(at:)` tells.
        case pending
    }

    private struct Waiter {
        let id: UInt64
        let offset: Int
        let wake: @Sendable () -> Void
    }

    /// All bytes while they are in memory; empty once they are in the file.
    private(set) var memory: [UInt8] = []
    /// The leading bytes, kept for good.
    private(set) var prefix: [UInt8] = []
    /// The number of bytes that may be read.
    private(set) var count = 0

    private var spill: SpillFile?
    private var end: End?
    /// As many as read this body at once.
    private var waiters: [Waiter] = []
    /// Waiters that were dismissed before they had enlisted.
    private var dismissed: Set<UInt64> = []
    private var lastWaiter: UInt64 = 0

    // MARK: - Bytes

    /// Takes memory for so many bytes at once: what grows piece by piece is copied, and keeps twice as much.
    mutating func reserve(_ count: Int) {
        memory.reserveCapacity(count)
    }

    /// Adds bytes in memory.
    mutating func append(_ bytes: UnsafeRawBufferPointer, prefixLimit: Int) {
        unsafe memory.append(contentsOf: bytes)
        unsafe advance(to: memory.count, by: bytes, prefixLimit: prefixLimit)
    }

    /// Shows readers a file that holds at least the bytes that were in memory, and gives the memory back.
    mutating func move(into spill: SpillFile) {
        self.spill = spill
        memory = []
    }

    /// Shows readers that there are `count` bytes now, of which `bytes` are the last.
    mutating func advance(to count: Int, by bytes: UnsafeRawBufferPointer, prefixLimit: Int) {
        if prefix.count < prefixLimit {
            unsafe prefix.append(contentsOf: bytes.prefix(prefixLimit - prefix.count))
        }
        self.count = count
    }

    /// Whether it is complete or has failed.
    var hasEnded: Bool { end != nil }

    /// Whether the bytes lie in a file.
    var isInFile: Bool { spill != nil }

    /// Up to `max` bytes from `offset` on.
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

    /// The whole body, once it is complete.
    var content: GrowingBody.Content? {
        guard case .complete(let hash, let checksum) = end else { return nil }
        let body: StoredBody =
            spill.map { .file($0.file, offset: $0.offset, length: Int64(count)) } ?? .bytes(memory)
        return GrowingBody.Content(body: body, hash: hash, checksum: checksum)
    }

    /// Why nothing will ever come at `offset`; nil while it may.
    func failure(at offset: Int) -> LoadError? {
        guard offset >= count, case .failed(let error) = end else { return nil }
        return error
    }

    // MARK: - Waiters

    /// A name for one that is about to wait.
    mutating func newWaiterID() -> UInt64 {
        lastWaiter += 1
        return lastWaiter
    }

    /// Keeps a waiter; true when there is nothing to wait for and the caller has to wake it.
    mutating func enlist(
        _ id: UInt64, beyond offset: Int, _ wake: @escaping @Sendable () -> Void
    ) -> Bool {
        if dismissed.remove(id) != nil || end != nil || offset < count { return true }
        waiters.append(Waiter(id: id, offset: offset, wake: wake))
        return false
    }

    /// Takes a waiter out because its task was cancelled; the caller has to wake it.
    ///
    /// Cancelling may come 1. before the waiter has enlisted: remembered for `enlist`; 2. while it waits: taken out;
    /// 3. after it was woken: then `enlist` never comes again and the mark must not stay, see `forget`.
    mutating func dismiss(_ id: UInt64) -> (@Sendable () -> Void)? {
        guard let index = waiters.firstIndex(where: { $0.id == id }) else {
            dismissed.insert(id)
            return nil
        }
        return waiters.remove(at: index).wake
    }

    /// Takes a waiter out who has no task that would have to go on.
    mutating func strike(_ id: UInt64) {
        waiters.removeAll { $0.id == id }
    }

    /// Drops the mark of a cancellation that came too late; called when a wait is over.
    mutating func forget(_ id: UInt64) {
        dismissed.remove(id)
    }

    /// Takes out the waiters that may go on now; the caller has to wake them.
    mutating func readyWaiters() -> [@Sendable () -> Void] {
        let ready = waiters.filter { end != nil || $0.offset < count }
        guard !ready.isEmpty else { return [] }
        waiters.removeAll { end != nil || $0.offset < count }
        return ready.map(\.wake)
    }

    /// Ends the body, unless it has ended, and takes out all waiters.
    mutating func end(_ end: End) -> [@Sendable () -> Void] {
        if self.end == nil { self.end = end }
        return readyWaiters()
    }
}
