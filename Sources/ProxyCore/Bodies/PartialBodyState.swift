// SPDX-License-Identifier: Apache-2.0

/// The state that the readers of a partial body share: its bytes, its end, and the waiters.
struct PartialBodyState {
    /// How a body ended.
    enum End {
        /// All bytes are present; carries their digests.
        case complete(ContentHash, checksum: UInt32)
        /// No more bytes will follow.
        case failed(BodyError)
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

    private var spill: FilePlace?
    private var end: End?
    /// At most one for each reader.
    private var waiters: [Waiter] = []
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
    mutating func move(into spill: FilePlace) {
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

    /// The complete body; nil before.
    var content: PartialBody.Content? {
        guard case .complete(let hash, let checksum) = end else { return nil }
        let body: StoredBody =
            spill.map { .file($0.file, offset: $0.offset, length: Int64(count)) } ?? .bytes(memory)
        return PartialBody.Content(body: body, hash: hash, checksum: checksum)
    }

    // MARK: - Readers

    /// Returns the bytes at `offset`: up to `max` from memory, all from a file; without a byte, `wake` waits for one, or
    /// for the end.
    mutating func poll(
        at offset: Int, max: Int, orWake wake: @escaping @Sendable () -> Void
    ) -> PartialBody.PollResult {
        let left = count - offset
        guard left > 0 else {
            switch end {
            case .complete: return .end
            case .failed(let error): return .failed(error)
            case nil:
                lastWaiter += 1
                waiters.append(Waiter(id: lastWaiter, offset: offset, wake: wake))
                return .nothingYet(lastWaiter)
            }
        }
        if let spill {
            return .piece(.file(spill.file, offset: spill.offset + Int64(offset), length: Int64(left)))
        }
        return .piece(.bytes(Array(memory[offset..<offset + min(Swift.max(1, max), left)])))
    }

    /// Removes a waiter.
    mutating func leave(_ id: UInt64) {
        waiters.removeAll { $0.id == id }
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
