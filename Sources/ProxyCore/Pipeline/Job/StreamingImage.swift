// SPDX-License-Identifier: Apache-2.0

package import Bodies
import Cache
package import Freshness
import Observability
import Primitives
import Request

/// An untransformed image that can be sent while it is received: what is known of it by then.
package struct StreamingImage: Sendable {
    /// What a client can receive in this way.
    package enum Support: Sendable {
        /// Only whole images.
        case none
        /// Images of a length that is known from the start.
        case knownLength
        /// Any.
        case anyLength
    }

    /// Its freshness, by the origin's head. Its content hash and byte count are not known yet, and stand for nothing.
    package let record: SourceRecord
    /// The hash of its bytes, where they are all there, but not stored yet.
    package let contentHash: ContentHash?
    /// The status of the origin's answer.
    package let originStatus: Int
    /// The bytes, from the first one on.
    package let body: BodyReader
    /// How many bytes there will be, where the origin says so.
    package let length: Int?
    /// Whether some tier will hold the bytes once they are all there.
    package let isStored: Bool
    /// Whether it was fetched for this client alone.
    package let isPrivate: Bool
    /// Whether this request was collapsed into another's.
    package let isCollapsed: Bool
    /// Whether a purge by the request's tags finds it.
    package var isTagged = true
}

extension ImageJob {
    /// The image as soon as its first bytes may go out; nil where the client waits for the whole image.
    func streamingImage(
        of subscription: Subscription, for support: StreamingImage.Support
    ) async -> StreamingImage? {
        guard request.isUntouched, support != .none, !directives.waitsForStore,
            let fetch = await subscription.progress.streamedFetch.wait() ?? nil, !Task.isCancelled
        else { return nil }
        // A small image gets a moment to be complete: then it is answered with an entity tag.
        if let length = fetch.received.head?.contentLength, length <= Self.smallImage {
            await subscription.result.wait(atMost: Self.smallImageWait)
        }
        guard let image = streamingImage(from: fetch, subscription),
            image.length != nil || support == .anyLength
        else { return nil }
        if image.isCollapsed { metrics.coalescedRequests.increment(.transform) }
        return image
    }

    /// The size in bytes up to which an image is answered as a whole if it is complete within
    /// `smallImageWait`.
    private static let smallImage = PartialBody.Configuration().memoryLimit.bytes
    /// For what is being received in the same moment, not for what the origin has yet to send.
    private static let smallImageWait = Duration.milliseconds(1)

    /// What is known of an image whose bytes are being received, or wait to be stored; nil where it is too late for that: the
    /// task has ended, or they never will come.
    func streamingImage(from fetch: OriginalFetch, _ subscription: Subscription) -> StreamingImage? {
        guard let head = fetch.received.head, let format = fetch.received.format,
            subscription.result.value == nil
        else { return nil }
        let content = fetch.body.content
        guard content != nil || fetch.body.isIncomplete && head.contentLength ?? .max > fetch.body.count
        else { return nil }
        let length = content?.body.count ?? head.contentLength
        var record = newRecord(
            of: fetch, head, contentHash: Self.hashOfNothing, byteCount: 0, format: format)
        let isStored =
            !record.reuse.directives.forbidStoring && scope != .nothing && fetch.token.isValid
            && tiers.originals != .none
        if directives.noStore { record.reuse.directives.insert(.noStore) }
        return StreamingImage(
            record: record, contentHash: content?.hash, originStatus: head.status,
            body: BodyReader(fetch, subscription, length: length), length: length, isStored: isStored,
            isPrivate: isPrivate, isCollapsed: !subscription.isLeader)
    }

    private static let hashOfNothing = ContentHash(of: [])
}
