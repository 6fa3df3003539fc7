// SPDX-License-Identifier: Apache-2.0

extension ImagePipeline {
    /// Has a rendition made and puts it into the tiers; what no tier may hold is only answered.
    func render(
        _ source: Source, by plan: RenderPlan, for request: ImageRequest, asking client: RequestDirectives,
        permit: PurgeLedger.Permit
    ) async throws(PipelineError) -> ImageResponse {
        try refuseIfUseless(request, asking: client)
        let response: ImageResponse
        do throws(PipelineError) {
            response = try await make(source, by: plan, for: request, keeping: client.keeping, permit: permit)
        } catch {
            // What was decoded is not what was stored, so that the error says nothing of the source.
            guard await tiers.isUnaltered(source.hit) else {
                guard !client.onlyIfCached else { throw .notCached }
                let anew = try await fetch(request, validating: nil, asking: client)
                return try await render(anew, by: plan, for: request, asking: client, permit: permit)
            }
            await remember(error, of: request, permit: permit)
            verify(source, after: error, of: request, permit: permit)
            throw error
        }
        failures.forget(request.resultKey)
        return response
    }

    /// Throws what is remembered of the result, or of a source that its decoder could not bear: that is not decoded again
    /// for another size.
    func refuseIfUseless(
        _ request: ImageRequest, asking client: RequestDirectives
    ) throws(PipelineError) {
        guard !client.retryFailed else { return }
        if let failure = failures.failure(of: request.resultKey, at: clock()) {
            FetchContext.current.forwarding?.note(.remembered)
            throw failure
        }
        // That it can't be fetched now forbids nothing that needs no fetch.
        if let failure = failures.failure(ofSourceOf: request, at: clock()), failure.isOfDecoding {
            FetchContext.current.forwarding?.note(.remembered)
            throw failure
        }
    }

    /// Makes a rendition, and keeps it as far as it may be.
    func make(
        _ source: Source, by plan: RenderPlan, for request: ImageRequest, keeping: Keeping,
        permit: PurgeLedger.Permit
    ) async throws(PipelineError) -> ImageResponse {
        guard let body = source.body else { throw .internalFailure("a rendering without a source") }
        var plan = plan
        plan.workLimit = request.workLimit
        let place = intermediatePlace(for: &plan, request, source.record, keeping: keeping)
        let kind: EntryKind = place == nil ? .result : .derived
        var canvas = try tiers.newResult(kind, for: request, of: source.record, keeping: keeping)
        let rendition: Rendition
        do throws(RenderError) {
            rendition = try await rendered(
                plan, from: body, on: &canvas,
                beside: place.map { SecondOutput(file: $0.file, offset: $0.offset) })
        } catch {
            let failure = PipelineError(error)
            metrics.count(failedTransform: failure)
            throw failure
        }
        metrics.count(rendition)
        // It may have waited for a worker for seconds, and nobody checks what that reads.
        guard await tiers.isUnaltered(source.hit) else {
            throw .internalFailure("the original was altered while its transform waited")
        }
        if keeping.usesDisk {
            await note(rendition, beside: place, for: request, of: source.record, permit: permit)
        }
        return try await finish(
            rendition, kind, by: plan, on: canvas, of: source, for: request, keeping: keeping, permit: permit)
    }

    /// Renders, into memory where the disk has no room.
    func rendered(
        _ plan: RenderPlan, from body: StoredBody, on canvas: inout Canvas, beside: SecondOutput? = nil
    ) async throws(RenderError) -> Rendition {
        do {
            return try await renderer.render(
                plan, from: body, into: canvas.file, at: canvas.offset, beside: beside)
        } catch .notWritten(let text) where canvas.staged != nil {
            do throws(LoadError) { canvas = try tiers.refuge() } catch { throw .notWritten(text) }
            return try await renderer.render(
                plan, from: body, into: canvas.file, at: canvas.offset, beside: beside)
        }
    }

    /// Reads what was written, and keeps it as far as it may be.
    ///
    /// - Parameter kind: a result, or a derived one.
    func finish(
        _ rendition: Rendition, _ kind: EntryKind, by plan: RenderPlan, on canvas: Canvas, of source: Source,
        for request: ImageRequest,
        keeping: Keeping, permit: PurgeLedger.Permit
    ) async throws(PipelineError) -> ImageResponse {
        let content = try await tiers.read(canvas, byteCount: rendition.byteCount)
        var description = EntryDescription(
            kind: kind, key: request.resultKey, keyText: request.resultKeyText,
            sourceKey: request.sourceKey,
            sourceHash: source.record.contentHash, contentHash: content.hash, format: rendition.format,
            width: rendition.width, height: rendition.height, storedAt: clock())
        description.stage = stage(of: rendition, by: plan)
        var response = ImageResponse(
            description: description, record: source.record, body: .bytes(content.bytes),
            provenance: source.provenance)
        response.originStatus = source.status
        response.timings = ImageResponse.Timings(
            queue: rendition.timings.queue, fetch: source.fetchTime, decode: rendition.timings.decode,
            transform: rendition.timings.transform, encode: rendition.timings.encode)
        await tiers.store(&response, from: canvas, keeping: keeping, permit: permit)
        // What is kept nowhere has nothing taking its place.
        if !response.isStored, response.description.stage == .fast { response.description.stage = .kept }
        return response
    }

    /// The answer for an untransformed image: a result with an empty pipeline that shares the original's bytes.
    func passThrough(
        _ source: Source, for request: ImageRequest, permit: PurgeLedger.Permit
    ) async -> ImageResponse {
        let record = source.record
        let description = EntryDescription(
            kind: .original, key: request.resultKey, keyText: request.resultKeyText,
            sourceKey: request.sourceKey,
            sourceHash: record.contentHash, contentHash: record.contentHash, format: record.format,
            storedAt: clock())
        var response = ImageResponse(
            description: description, record: record, body: source.body ?? .bytes([]),
            provenance: source.provenance)
        response.timings.fetch = source.fetchTime
        response.originStatus = source.status
        response.isDurable = source.kept.isDurable
        await tiers.promote(&response, permit: permit)
        response.isStored = source.kept.isStored || response.entry != nil
        if response.isDurable { response.entry?.markDurable() }
        return response
    }
}
