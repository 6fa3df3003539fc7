// SPDX-License-Identifier: Apache-2.0

import Primitives

/// What the subscribers of an image's task share while it runs: who asked, whether the origin was asked, and the fetch whose
/// bytes may go out while they are received, if any.
final class ImageProgress: Sendable {
    /// The clients that have requested the image; one that leaves still counts.
    let waiters: Waiters
    /// Whether the origin was asked, as the request that began notes it.
    let forwarding: ForwardingRecord?
    /// The fetch whose bytes may go out; nil at the task's end without one.
    let streamedFetch = Promise<OriginalFetch?>()

    /// - Parameters:
    ///   - waiters: with the client that begins.
    ///   - forwarding: the record of the request that begins.
    init(waiters: Waiters = Waiters(), forwarding: ForwardingRecord? = nil) {
        (self.waiters, self.forwarding) = (waiters, forwarding)
    }

    /// Offers `fetch` to the subscribers as soon as its bytes may go out.
    func follow(_ fetch: OriginalFetch) {
        // Weak, since the fetch keeps this until its bytes may go out, which may never be.
        fetch.streaming.whenSet { [promise = streamedFetch, weak fetch] in promise.set(fetch) }
    }
}
