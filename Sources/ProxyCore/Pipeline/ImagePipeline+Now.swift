// SPDX-License-Identifier: Apache-2.0

import Cache
import Freshness
package import Request

/// What asking for a fresh picture of the disk tier came to.
package enum StoredAnswer: Sendable {
    /// The picture.
    case hit(ImageResponse)
    /// That is not enough to tell, whatever the reason: `answer` finds out.
    case unknown
    /// The disk has to be waited for: `storedResponseSoon` does.
    case wouldBlock
}

extension ImagePipeline {
    /// Whether the `Cache-Control` of requests counts.
    package var honoursClients: Bool { freshness.honoursClients }

    /// Hot path: a fresh picture of the disk tier, answered from its file and what the kernel has in memory.
    ///
    /// A handful of system calls, no task, no index.
    package func storedResponse(for request: ImageRequest) -> StoredAnswer {
        let isPlain = request.plan == nil
        guard request.delivery.tags.isEmpty, request.delivery.options.isEmpty,
            !isPlain || request.mayPassThrough, tiers.peek(request.resultKey) == nil
        else { return .unknown }
        let now = clock()
        return tiers.lookUpCached(request) { hit, record in isFresh(hit, record, for: request, at: now) }
    }

    /// The same after `storedResponse` came to `wouldBlock`: one wait for the disk, no flight, no index.
    ///
    /// Nil where that is not enough to tell.
    package func storedResponseSoon(for request: ImageRequest) async -> ImageResponse? {
        let now = clock()
        return await tiers.lookUpBlocking(request) { hit, record in
            isFresh(hit, record, for: request, at: now)
        }
    }

    private func isFresh(
        _ hit: DiskHit, _ record: SourceRecord, for request: ImageRequest, at now: Int64
    ) -> Bool {
        hit.description.isUsable(at: now) && request.accepts(record)
            && (request.plan != nil || mayPass(record))
            && freshness.reuse(of: record, at: now, for: .none) == .fresh
    }
}
