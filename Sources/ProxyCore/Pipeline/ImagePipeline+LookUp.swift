// SPDX-License-Identifier: Apache-2.0

import Cache
import Freshness
package import Request

/// The result of a look-up in the disk tier that must not wait.
package enum StoredAnswer: Sendable {
    /// The picture.
    case hit(ImageResponse)
    /// Anything else: `answer` finds out.
    case unknown
    /// Reading it would block: `lookUpBlocking` does.
    case wouldBlock
}

extension ImagePipeline {
    /// Whether the `Cache-Control` of requests counts.
    package var honoursClients: Bool { freshness.honoursClients }

    /// Hot path: a fresh picture of the disk tier, answered from its file in the kernel's page cache.
    ///
    /// A handful of system calls, no task, no index.
    package func lookUpCached(_ request: ImageRequest) -> StoredAnswer {
        let isPlain = request.plan == nil
        guard request.delivery.tags.isEmpty, request.delivery.options.isEmpty,
            !isPlain || request.mayPassThrough, tiers.peek(request.resultKey) == nil
        else { return .unknown }
        let now = clock()
        return tiers.lookUpCached(request) { hit, record in isFresh(hit, record, for: request, at: now) }
    }

    /// The same after `lookUpCached` returned `wouldBlock`: one wait for the disk, no task, no index.
    ///
    /// Nil where that does not suffice.
    package func lookUpBlocking(_ request: ImageRequest) async -> ImageResponse? {
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
