// SPDX-License-Identifier: Apache-2.0

import Bodies
import Cache
import Freshness
import Imaging
import Primitives
import Rendering
import Request
import Synchronization
import Tracing

/// How a rendition is made and stored.
extension ImageJob {
    /// Has a rendition made, and puts it into the tiers; what no tier may hold is only answered.
    func renderAndStore(_ source: Source, by wanted: RenderPlan) async throws(PipelineError) -> ImageResponse
    {
        guard let body = source.body else { throw .internalFailure("a rendering without a source") }
        var plan = wanted
        plan.workLimit = request.workLimit
        let second = newIntermediate(for: &plan, source.record)
        let kind: EntryKind = second == nil ? .result : .derived
        var target = try tiers.newResult(kind, for: request, of: source.record, scope: scope)
        let rendition: Rendition
        do throws(RenderError) {
            rendition = try await countedRendition(
                plan, from: body, to: &target, intermediateTarget: second?.place)
        } catch {
            throw PipelineError(error)
        }
        // It may have waited for a worker for seconds, and nothing checks what that reads.
        guard await tiers.isUnaltered(source.file, for: context.client) else {
            throw .internalFailure("the original was altered while its transform waited")
        }
        if scope.usesDisk { await storeIntermediate(rendition, at: second, of: source.record) }
        return try await storeRendition(rendition, kind, by: plan, from: target, of: source)
    }

    /// Has a worker render into the target, and counts what it made, or why it made nothing.
    func countedRendition(
        _ plan: RenderPlan, from body: StoredBody, to target: inout OutputTarget,
        intermediateTarget: FilePlace? = nil
    ) async throws(RenderError) -> Rendition {
        do throws(RenderError) {
            let rendition = try await renderWithFallback(
                plan, from: body, to: &target, intermediateTarget: intermediateTarget)
            metrics.count(rendition, by: plan)
            return rendition
        } catch {
            metrics.count(failedTransform: PipelineError(error))
            throw error
        }
    }

    /// Has a worker render into the target, and once more into memory where the disk has no space.
    func renderWithFallback(
        _ plan: RenderPlan, from body: StoredBody, to target: inout OutputTarget,
        intermediateTarget: FilePlace? = nil
    ) async throws(RenderError) -> Rendition {
        do {
            return try await runRenderer(plan, from: body, to: target, intermediateTarget: intermediateTarget)
        } catch .notWritten(let text) where target.staged != nil {
            do throws(BodyError) { target = try tiers.fallbackTarget() } catch { throw .notWritten(text) }
            return try await runRenderer(plan, from: body, to: target, intermediateTarget: intermediateTarget)
        }
    }

    /// Has a worker render, for the clients that wait for it.
    func runRenderer(
        _ plan: RenderPlan, from body: StoredBody, to target: OutputTarget,
        intermediateTarget: FilePlace? = nil
    ) async throws(RenderError) -> Rendition {
        let part = context.trace?.begin("render")
        do throws(RenderError) {
            let rendition = try await pipeline.renderer.render(
                plan, from: body, into: target.file, at: target.offset,
                intermediateTarget: intermediateTarget,
                for: waiters ?? Waiters(context.client))
            part?.end(rendition)
            return rendition
        } catch {
            part?.end(PipelineError(error))
            throw error
        }
    }

    /// Reads what was written, and stores it as far as it may be.
    ///
    /// - Parameters:
    ///   - kind: a result, or a derived one.
    ///   - narrower: where it may be stored, if more narrowly than the client permits.
    func storeRendition(
        _ rendition: Rendition, _ kind: EntryKind, by plan: RenderPlan, from target: OutputTarget,
        of source: Source, scope narrower: StorageScope? = nil
    ) async throws(PipelineError) -> ImageResponse {
        let bytes = try await tiers.read(target, byteCount: rendition.byteCount)
        var description = EntryDescription(
            kind: kind, key: request.resultKey, keyText: request.resultKeyText, sourceKey: request.sourceKey,
            sourceHash: source.record.contentHash, contentHash: ContentHash(of: bytes),
            format: rendition.format,
            width: rendition.width, height: rendition.height, storedAt: now.seconds)
        description.stage = pipeline.stage(of: rendition, by: plan)
        var response = ImageResponse(of: source, description, .bytes(bytes))
        response.timings = ImageResponse.Timings(
            queue: rendition.timings.queue, fetch: source.fetchTime, decode: rendition.timings.decode,
            transform: rendition.timings.transform, encode: rendition.timings.encode)
        let part = context.trace?.begin("cache store")
        await tiers.storeResult(
            &response, from: target, scope: narrower ?? scope, mayPromote: mayPromote,
            for: context.client, token: token)
        part?.end()
        offer(made: response)
        // Slow clients would hold the copy on the heap, which no tier counts.
        if response.entry == nil {
            response.body = .file(target.file, offset: target.offset, length: Int64(rendition.byteCount))
        }
        // What is stored nowhere is replaced by nothing.
        if !response.isStored, response.description.stage == .fast { response.description.stage = .kept }
        return response
    }

    /// The answer for an untransformed image: a result with an empty pipeline that shares the original's bytes.
    func passThrough(_ source: Source) async -> ImageResponse {
        let record = source.record
        let description = EntryDescription(
            kind: .original, key: request.resultKey, keyText: request.resultKeyText,
            sourceKey: request.sourceKey, sourceHash: record.contentHash, contentHash: record.contentHash,
            format: record.format, storedAt: now.seconds)
        var response = ImageResponse(of: source, description, source.body ?? .bytes([]))
        response.isDurable = source.stored.isDurable
        await promote(&response)
        response.isStored = source.stored.isAnywhere || response.entry != nil
        if response.isDurable { response.entry?.markDurable() }
        return response
    }
}
