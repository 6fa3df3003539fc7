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
            rendition = try await renderWithFallback(
                plan, from: body, to: &target,
                intermediateTarget: second?.place)
        } catch {
            let failure = PipelineError(error)
            metrics.count(failedTransform: failure)
            throw failure
        }
        metrics.count(rendition, by: plan)
        // It may have waited for a worker for seconds, and nothing checks what that reads.
        guard await tiers.isUnaltered(source.hit) else {
            throw .internalFailure("the original was altered while its transform waited")
        }
        if scope.usesDisk { await storeIntermediate(rendition, at: second, of: source.record) }
        return try await store(rendition, kind, by: plan, from: target, of: source)
    }

    /// A result made from the intermediate of the source's present content; nil if no stored one suits the
    /// plan.
    ///
    /// One that can't be used is removed, and the original is used instead.
    func derivedRendition(
        of source: Source, by wanted: RenderPlan
    ) async throws(PipelineError) -> ImageResponse? {
        guard let (found, original) = await intermediate(serving: wanted, of: source) else { return nil }
        try refuseFailed(source.record.contentHash)
        var plan = wanted
        plan.intermediate = .read(original)
        plan.workLimit = request.workLimit
        var target = try tiers.newResult(.derived, for: request, of: source.record, scope: scope)
        let rendition: Rendition
        do throws(RenderError) {
            rendition = try await renderWithFallback(plan, from: found.body, to: &target)
        } catch {
            let failure = PipelineError(error)
            metrics.count(failedTransform: failure)
            guard !failure.isTemporary else { throw failure }
            guard !failure.isOfPlan else {
                remember(failure.of(source.record.contentHash))
                throw failure
            }
            // Lost: a failure to delete; it is tried again with the next use.
            _ = try? await tiers.disk.remove(found.description.key, kind: .intermediate)
            return nil
        }
        metrics.count(rendition, by: plan)
        guard await tiers.isUnaltered(found.hit) else { return nil }
        return try await store(rendition, .derived, by: plan, from: target, of: source)
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
                for: interest ?? RenderInterest(context.client))
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
    func store(
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
        await tiers.store(
            &response, from: target, scope: narrower ?? scope, isPromoted: isPromoted, token: token)
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

    // MARK: - Intermediates

    /// The intermediate of a source's present content, and the original's facts; nil if no
    /// stored one suits the plan.
    func intermediate(
        serving plan: RenderPlan, of source: Source
    ) async -> (found: ImageTiers.Found, original: Rendition.SourceFacts)? {
        let rule = pipeline.configuration.intermediates
        guard rule.admits(plan) else { return nil }
        let key = intermediateKey(source.record)
        // Lost: that it can't be opened now; the original may be in memory.
        guard let found = try? await tiers.onDisk(key.key, .intermediate, key.text) else { return nil }
        let original = found.description.original(of: source.record)
        return rule.serves(plan, of: original) ? (found, original) : nil
    }

    /// Whether the intermediate of a source's content may be here, and one is of use for the request.
    func mayHoldIntermediate(of record: SourceRecord) -> Bool {
        guard let plan = request.plan, pipeline.configuration.intermediates.admits(plan) else { return false }
        return tiers.disk.mayContain(intermediateKey(record).key, kind: .intermediate)
    }

    /// The stored intermediate that the request would be made from; nil where there is none. Counts nothing.
    func explainedIntermediate(of record: SourceRecord) async -> DiskHit? {
        guard let plan = request.plan, mayHoldIntermediate(of: record) else { return nil }
        let key = intermediateKey(record)
        // Lost: why it can't be read; the request would use the original.
        guard let hit = try? await tiers.disk.findBlocking(key.key, .intermediate, key.text, .inAnyFile)
        else {
            return nil
        }
        let serves = pipeline.configuration.intermediates.serves(
            plan, of: hit.description.original(of: record))
        return serves ? hit : nil
    }

    /// Names the intermediate of a source's present content.
    private func intermediateKey(_ record: SourceRecord) -> IntermediateKey {
        IntermediateKey(
            source: request, hash: record.contentHash,
            rule: pipeline.configuration.intermediates.configuration)
    }

    /// A place for an intermediate, when this is a large original's second size; the plan then says to make one.
    private func newIntermediate(for plan: inout RenderPlan, _ record: SourceRecord) -> OutputTarget? {
        let rule = pipeline.configuration.intermediates
        guard rule.admits(plan) else { return nil }
        let key = intermediateKey(record)
        guard let original = pipeline.firstSizes.withLock({ $0.value(for: key.key) }),
            rule.serves(plan, of: original), let size = rule.size(for: original),
            let target = tiers.newIntermediate(key, of: record, scope: scope)
        else { return nil }
        plan.intermediate = .write(
            width: size.width, height: size.height, quality: rule.configuration.quality)
        return target
    }

    /// Remembers that a size of a large original was made, and stores the intermediate that was written beside it, if one was.
    private func storeIntermediate(
        _ rendition: Rendition, at target: OutputTarget?, of record: SourceRecord
    ) async {
        let rule = pipeline.configuration.intermediates
        guard rule.size(for: rendition.source) != nil else { return }
        let key = intermediateKey(record)
        pipeline.firstSizes.withLock {
            $0.store(rendition.source, for: key.key, capacity: max(1, rule.configuration.originals))
        }
        guard let staged = target?.staged, let written = rendition.intermediate else { return }
        let size = rendition.source.upright
        // Lost: why; the tier has counted it, and the next size is made from the original.
        try? await tiers.disk.commit(
            staged,
            EntryDescription(
                kind: .intermediate, key: key.key, keyText: key.text, sourceKey: request.sourceKey,
                sourceHash: record.contentHash, contentHash: record.contentHash, format: written.format,
                width: size.width, height: size.height, storedAt: now.seconds),
            byteCount: written.byteCount, token: token)
    }
}

/// Names the intermediate of one source's content, made by one rule.
struct IntermediateKey {
    let text: String
    let key: CacheKey

    init(source request: ImageRequest, hash: ContentHash, rule: IntermediateConfiguration) {
        text = """
            intermediate \(ImageRequest.engineVersion) side \(rule.side) quality \(rule.quality)
            content \(hash.shortHex)
            \(request.sourceKeyText)
            """
        key = CacheKey(canonicalText: text)
    }
}

extension EntryDescription {
    /// The facts about the original of an intermediate, which has its width and height.
    fileprivate func original(of record: SourceRecord) -> Rendition.SourceFacts {
        Rendition.SourceFacts(
            format: record.format, width: width, height: height, frames: 1,
            hasAlpha: format.row.supportsAlpha)
    }
}
