// SPDX-License-Identifier: Apache-2.0

import Cache
import Freshness
import Request

extension ImagePipeline {
    /// The result as it lies in the disk tier, if it was made from the source's present content.
    func storedResult(
        for request: ImageRequest, of source: Source, permit: PurgeLedger.Permit
    ) async throws(PipelineError) -> ImageResponse? {
        guard let found = try await tiers.result(for: request, hash: source.record.contentHash),
            found.description.isUsable(at: clock())
        else { return nil }
        let tier: ImageResponse.Provenance = found.isInMemory ? .memory : .disk
        var response = ImageResponse(
            description: found.description, record: source.record, body: found.body,
            provenance: source.provenance == .storedOriginal ? tier : source.provenance)
        response.description.key = request.resultKey
        response.isStored = true
        if case .stale = response.provenance {
            if let entry = found.entry {
                staleAnswers.count(entry)
            } else {
                staleAnswers.count(found.description.kind)
            }
        }
        response.timings.fetch = source.fetchTime
        response.originStatus = source.status
        // After a 304 the entry in memory has the new record already.
        response.entry = found.entry.flatMap { _ in tiers.peek(request.resultKey) }
        await tiers.promoteFromDisk(&response, permit: permit)
        return response
    }
}

extension ImageResponse {
    /// A hit of the memory tier, fresh or permitted though stale.
    init(hit entry: MemoryEntry, provenance: Provenance) {
        self.init(
            description: entry.description, record: entry.record, body: entry.body, entry: entry,
            provenance: provenance)
        isStored = true
    }
}
