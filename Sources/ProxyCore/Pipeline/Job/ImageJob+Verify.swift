// SPDX-License-Identifier: Apache-2.0

import Bodies
import Cache
import Freshness
import Imaging
import Primitives
import Rendering
import Request
import URLs

extension ImageJob {
    /// Finds out in the background whether a source can be decoded at all, when a worker has failed on it.
    ///
    /// A failed result says nothing of its source: the client has chosen the frame, the operations and the format. So the
    /// source is decoded with the cheapest plan, after all other jobs and on the account of the client; only when that
    /// fails, too, the source is refused to others.
    func verifyDecoding(of source: Source, after failure: PipelineError) {
        guard failure.needsVerification, token.isValid, let body = source.body,
            failures.beginVerification(
                of: request.sourceKey, as: request.fullKey, source.record.contentHash, context.history,
                at: now.seconds)
        else { return }
        let content = source.record.contentHash
        Task {
            let verdict = await verdict(on: body, content)
            // The bytes that failed may be gone by now, or replaced by others.
            let record = await tiers.record(for: request)
            let isCurrent = token.isValid && (record?.contentHash ?? content) == content
            failures.endVerification(
                of: request.sourceKey, as: request.fullKey, request.source.normalized,
                isCurrent ? verdict : .unknown,
                context.history, at: now.seconds)
        }
    }

    private func verdict(on body: StoredBody, _ content: ContentHash) async -> FailedURLs.Verdict {
        // Ignored in both: why; nothing is then known of the source, and the next failure asks again.
        guard let target = try? tiers.memoryTarget(),
            let plan = try? pipeline.configuration.rasterPlan.cheapest()
        else { return .unknown }
        var job = self
        job.waiters = Waiters(context.client, .low)
        do throws(RenderError) {
            _ = try await job.runRenderer(plan, from: body, to: target)
            return .sound
        } catch {
            let failure = PipelineError(error)
            return failure.needsVerification ? .failed(failure.of(content)) : .unknown
        }
    }
}

extension RenderPlan {
    /// The plan that takes least of a source's first picture and still reads all of it: a JPEG of a few pixels.
    fileprivate func cheapest() throws(TransformError) -> RenderPlan {
        var plan = self
        plan.pipeline = try TransformPipeline(parsing: "resize:16x16")
        plan.format = .explicit(.jpeg)
        plan.animation = .first
        plan.metadata = .none
        plan.isLinear = false
        return plan
    }
}
