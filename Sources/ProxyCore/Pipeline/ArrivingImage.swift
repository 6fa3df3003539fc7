// SPDX-License-Identifier: Apache-2.0

package import Bodies
import Cache
package import Freshness
import Loading
import Observability
import Origins
import Request

/// What a request for an image leads to.
package enum ImageAnswer: Sendable {
    /// The whole image.
    case whole(ImageResponse)
    /// An image whose bytes go out while they arrive from its origin.
    case arriving(ArrivingImage)
}

/// An untransformed image that can be sent while it arrives: what is known of it by then.
package struct ArrivingImage: Sendable {
    /// What clients can follow.
    package enum Following: Sendable {
        /// Only whole images.
        case nothing
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
    package let body: ArrivingBody
    /// How many bytes there will be, where the origin says so.
    package let length: Int?
    /// Whether some tier will hold the bytes once they are all there.
    package let isStored: Bool
    /// Whether this caller alone may have it, and it was asked for on his behalf.
    package let isExclusive: Bool
    /// Whether this caller was collapsed into another's flight.
    package let isCollapsed: Bool
    /// Whether a purge by the request's tags finds it.
    package var isTagged = true
}

extension ImagePipeline {
    /// What is known of an image whose bytes are arriving, or wait to be stored; nil where it is too late for that: the
    /// flight has landed, or they never will arrive.
    func arrivingImage(
        _ request: ImageRequest, from fetch: OriginalFetch, aboard seat: RenderingSeat,
        asking client: RequestDirectives
    ) -> ArrivingImage? {
        guard let head = fetch.head, let format = fetch.format, seat.outcome == nil else { return nil }
        let content = fetch.body.content
        guard content != nil || fetch.body.isGrowing && head.contentLength ?? .max > fetch.body.count else {
            return nil
        }
        let length = content?.body.count ?? head.contentLength
        var record = freshness.record(
            key: request.sourceKey, keyText: request.sourceKeyText, contentHash: Self.hashOfNothing,
            byteCount: 0, format: format, head: head, after: fetch.redirects)
        request.rule?.apply(to: &record)
        fetch.hops.apply(to: &record)
        let isKept =
            !record.directives.forbidStoring && client.keeping != .nothing && seat.key.loner == nil
            && fetch.permit.isValid
        if client.noStore { record.directives.insert(.noStore) }
        if seat.key.loner != nil { record.directives.insert(.isPrivate) }
        if !seat.isLeader { metrics.coalescedRequests.increment(.transform) }
        return ArrivingImage(
            record: record, contentHash: content?.hash, originStatus: head.status,
            body: ArrivingBody(fetch, seat, length: length),
            length: length, isStored: isKept && tiers.originals != .none,
            isExclusive: seat.key.loner != nil, isCollapsed: !seat.isLeader)
    }

    private static let hashOfNothing = ContentHash(of: [])
}
