// SPDX-License-Identifier: Apache-2.0

package import Cache
import Bodies
import Freshness
import Imaging
import Primitives
package import Request
package import Sharing

/// Purges for other nodes and from them, and answers to them.
extension ImagePipeline {
    /// The tier that nodes share; nil without one.
    package var shared: SharedTier? { tiers.shared }

    /// What a purge is to other nodes.
    package func sharedTarget(of target: PurgeTarget) -> SharedPurge.Target {
        switch target {
        case .source(let url): .source(key(of: url))
        case .sourceKey(let key): .source(key)
        case .key(let key): .key(key)
        case .tag(let tag): .tag(tag)
        case .prefix(let prefix): .prefix(prefix)
        case .everything: .everything
        }
    }

    /// The image for `request` in the form for another node; nil for one that must not be shared.
    package func answerForNode(_ request: ImageRequest) async throws(PipelineError) -> HomeAnswer? {
        var asking = RequestDirectives.none
        asking.apply(request.delivery.options)
        guard case .whole(let image) = try await answer(for: request, asking: asking, streaming: .none),
            !image.record.directives.forbidStoring, image.description.stage != .cheapest,
            let bytes = await tiers.bytes(of: image.body)
        else { return nil }
        if image.provenance.isStale { return nil }
        var description = image.description
        if description.kind == .original {
            description.name(request.sourceKey, request.sourceKeyText)
        }
        let (record, age) = image.record.forOthers(at: clock())
        return HomeAnswer(record: record, age: age, entry: PortableEntry(description, body: bytes))
    }

    /// Does here what another node was asked to purge.
    @discardableResult
    package func apply(_ purge: SharedPurge) async throws(DiskCacheError) -> PurgeCounts {
        switch purge.target {
        case .source(let key): try await self.purge(.sourceKey(key))
        case .key(let key): try await self.purge(.key(key))
        case .tag(let tag): try await self.purge(.tag(tag))
        case .prefix(let prefix): try await self.purge(.prefix(prefix))
        case .everything: try await self.purge(.everything)
        }
    }
}
