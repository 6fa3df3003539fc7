// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Primitives
import Synchronization

/// What all uploads hold until they are answered, so that a client can't fill the disk, and the thread that writes them. One
/// for the daemon; safe from any thread.
package final class UploadBuffers: Sendable {
    /// What has been received and not been written, in bytes: a slow disk must not fill the memory.
    private let waiting = Atomic(0)
    private static let maxWaiting = 64 << 20
    private let held = Mutex(HeldBytes())
    /// A serial queue has a thread of its own.
    private let writer = DispatchQueue(label: "uploads")

    /// Creates one without uploads.
    package init() {}

    /// Whether so many more bytes of a client may be held; counts them if so.
    func hold(_ bytes: Int, of client: ClientID?) -> Bool {
        held.withLock { $0.add(bytes, of: client) }
    }

    func release(_ bytes: Int, of client: ClientID?) {
        held.withLock { $0.remove(bytes, of: client) }
    }

    /// Has so many bytes written on the thread; false if too many wait for that already.
    func write(_ bytes: Int, _ work: @escaping @Sendable () -> Void) -> Bool {
        guard waiting.wrappingAdd(bytes, ordering: .relaxed).newValue <= Self.maxWaiting else {
            waiting.wrappingSubtract(bytes, ordering: .relaxed)
            return false
        }
        writer.async { [self] in
            work()
            waiting.wrappingSubtract(bytes, ordering: .relaxed)
        }
        return true
    }

    /// Waits until all that was handed over before is written.
    func flush() async {
        await withCheckedContinuation { continuation in
            writer.async { continuation.resume() }
        }
    }
}

/// The bytes of several uploads, in all and by client.
struct HeldBytes {
    private(set) var count = 0
    private var byClient: [ClientID: Int] = [:]

    /// Twice the longest body that the settings allow (1 GiB).
    static let max = 2 << 30
    /// One client may hold at most half of all bytes.
    static let maxOfClient = max / 2

    /// Whether so many more bytes may be held; counts them if so.
    mutating func add(_ bytes: Int, of client: ClientID?) -> Bool {
        let own = client.map { byClient[$0, default: 0] + bytes }
        guard count + bytes <= Self.max, own ?? 0 <= Self.maxOfClient else { return false }
        count += bytes
        if let client { byClient[client] = own }
        return true
    }

    mutating func remove(_ bytes: Int, of client: ClientID?) {
        count -= bytes
        guard let client, let own = byClient[client] else { return }
        byClient[client] = own > bytes ? own - bytes : nil
    }
}
