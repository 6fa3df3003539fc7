// SPDX-License-Identifier: Apache-2.0

import Bodies
import Cache
import Freshness
import Imaging
package import Primitives
package import Request
package import Sharing

/// Answers other nodes' requests.
extension ImagePipeline {
    /// The image for `request` in the form for another node; nil for one that must not be shared.
    /// - Parameter client: that of the other node's request.
    package func answerForNode(
        _ request: ImageRequest, for client: ClientID?
    ) async throws(PipelineError) -> HomeAnswer? {
        let directives = RequestDirectives(request.delivery.options)
        guard
            case .whole(let image) = try await answer(
                for: request, directives: directives, context: FetchContext(client: client), streaming: .none),
            !image.record.reuse.directives.forbidStoring, image.description.stage != .cheapest,
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
}
