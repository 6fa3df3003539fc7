// SPDX-License-Identifier: Apache-2.0

import Cache
import Freshness
package import Primitives
package import Request

/// The result of a look-up in the disk tier that must not wait.
package enum StoredAnswer: Sendable {
    /// The picture.
    case hit(ImageResponse)
    /// Anything else: `answer` finds out.
    case unknown
    /// Reading it would block: `lookUpOnDisk` does.
    case wouldBlock
}

extension ImagePipeline {
    /// Whether the `Cache-Control` of requests counts.
    package var honoursClients: Bool { freshness.honoursClients }

    /// Hot path: a fresh picture of the disk tier, answered from its file in the kernel's page cache.
    ///
    /// A handful of system calls, no task, no index. Returns `.unknown` for a repeated hit, so that the slow path promotes the
    /// entry to memory; where memory evicts, for one in 64. Where memory is not for it, its file is kept open, and the answer
    /// has that entry.
    package func lookUpInPageCache(_ request: ImageRequest) -> StoredAnswer {
        let isPlain = request.plan == nil
        guard request.delivery.tags.isEmpty, request.delivery.options.isEmpty,
            !isPlain || request.mayPassThrough, tiers.peek(request.resultKey) == nil
        else { return .unknown }
        // Before the look-up: requests for what is not stored yet are noted, too.
        let advice = tiers.noteRequest(of: isPlain ? request.sourceKey : request.resultKey)
        guard advice != .memory, let (key, kind, text) = tiers.place(of: request) else { return .unknown }
        let keepsOpen = advice == .openFile
        // Before anything is looked up: what is purged or replaced meanwhile is not stored.
        let token = keepsOpen ? tiers.purgeLog.token(for: request.resultKey, request.sourceKey) : nil
        let revision = keepsOpen ? tiers.disk.recordRevision(of: request.sourceKey) : 0
        do throws(DiskCacheError) {
            guard
                let hit = try tiers.disk.find(
                    key, kind, text, .cached(asFile: keepsOpen)),
                var response = freshAnswer(hit, to: request)
            else { return .unknown }
            guard let token else { return .hit(response) }
            tiers.keepOpen(&response, token: token)
            if tiers.disk.recordRevision(of: request.sourceKey) != revision, let entry = response.entry {
                tiers.openFiles.remove(entry.description.key)
                response.entry = nil
            }
            return .hit(response)
        } catch {
            // The slow path keeps a file open, too, which `lookUpOnDisk` does not.
            return error == .wouldBlock && !keepsOpen ? .wouldBlock : .unknown
        }
    }

    /// The same after `lookUpInPageCache` returned `wouldBlock`: one wait for the disk, no task, no index; promotes nothing.
    ///
    /// Nil where that does not suffice.
    package func lookUpOnDisk(_ request: ImageRequest, for client: ClientID?) async -> ImageResponse? {
        guard let (key, kind, text) = tiers.place(of: request) else { return nil }
        // Ignored: an error, which the slow path meets again.
        let hit = try? await tiers.disk.findOnIOThread(key, kind, text, .copied, for: client)
        return hit.flatMap { freshAnswer($0, to: request) }
    }

    /// The answer from a hit, if its own record says that it is fresh; counted.
    private func freshAnswer(_ hit: DiskHit, to request: ImageRequest) -> ImageResponse? {
        let now = clock()
        guard var record = hit.record, serves(hit.description, record, request, at: now),
            freshness.reuse(of: record, at: now, for: .none) == .fresh
        else { return nil }
        tiers.disk.countHit(hit)
        // The file of a result has the text of the result alone.
        record.keyText = request.sourceKeyText
        var response = ImageResponse(
            description: hit.description, record: record, body: hit.body, provenance: .disk)
        response.description.name(request.resultKey, request.resultKeyText)
        response.isStored = true
        return response
    }

    /// Whether a stored picture answers a request, whatever its freshness.
    ///
    /// What may be passed on as it is, and what originals are to be, can have changed since it was stored.
    func serves(
        _ description: EntryDescription, _ record: SourceRecord, _ request: ImageRequest, at now: WallTime
    ) -> Bool {
        description.isUsable(at: now.seconds) && request.matchesStoreAs(record)
            && (request.plan != nil || request.mayPassThrough && mayPass(record))
    }
}
