// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Primitives
import Synchronization

/// What all uploads hold until they are answered, so that a client can't fill the disk, and the thread that writes them. One
/// for the daemon; safe from any thread.
package final class UploadBuffers: Sendable {
    /// What has been received and not been written: a slow disk must not fill the memory.
    private let waiting = Mutex(HeldBytes(max: 64 << 20))
    /// Twice the longest body that the settings allow (1 GiB).
    private let held = Mutex(HeldBytes(max: 2 << 30))
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

    /// Has so many bytes of a client written on the thread; false if too many wait for that already.
    func write(_ bytes: Int, of client: ClientID?, _ work: @escaping @Sendable () -> Void) -> Bool {
        guard waiting.withLock({ $0.add(bytes, of: client) }) else { return false }
        writer.async { [self] in
            work()
            waiting.withLock { $0.remove(bytes, of: client) }
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
    /// The maximum of all; one client may hold at most half of it.
    let max: Int
    private(set) var count = 0
    private var byClient: [ClientID: Int] = [:]

    /// Creates it without bytes.
    init(max: Int) { self.max = max }

    var maxOfClient: Int { max / 2 }

    /// Whether so many more bytes may be held; counts them if so.
    mutating func add(_ bytes: Int, of client: ClientID?) -> Bool {
        let own = client.map { byClient[$0, default: 0] + bytes }
        guard count + bytes <= max, own ?? 0 <= maxOfClient else { return false }
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
