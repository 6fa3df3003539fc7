// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension ImagePipeline {
    /// A result made from the intermediate of the source's present content; nil where there is none that serves.
    ///
    /// One that can't be used is removed, and the original is used instead.
    func derivedResponse(
        by plan: RenderPlan, for request: ImageRequest, of source: Source, asking client: RequestDirectives,
        permit: PurgeLedger.Permit
    ) async throws(PipelineError) -> ImageResponse? {
        guard let (half, original) = await intermediate(serving: plan, for: request, of: source) else {
            return nil
        }
        try refuseIfUseless(request, asking: client)
        var plan = plan
        plan.intermediate = .read(original)
        plan.workLimit = request.workLimit
        // It is ours, whatever clients may send.
        plan.decodableFormats = [half.description.format]
        var canvas = try tiers.newResult(
            .derived, for: request, of: source.record, keeping: client.keeping)
        let rendition: Rendition
        do throws(RenderError) {
            rendition = try await rendered(plan, from: half.body, on: &canvas)
        } catch {
            let failure = PipelineError(error)
            metrics.count(failedTransform: failure)
            guard !failure.isTemporary else { throw failure }
            guard !failure.isOfPlan else {
                await remember(failure, of: request, permit: permit)
                throw failure
            }
            await tiers.remove(half.description)
            return nil
        }
        metrics.count(rendition)
        guard await tiers.isUnaltered(half.hit) else { return nil }
        return try await finish(
            rendition, .derived, by: plan, on: canvas, of: source, for: request, keeping: client.keeping,
            permit: permit)
    }

    func intermediate(
        serving plan: RenderPlan, for request: ImageRequest, of source: Source
    ) async -> (half: ImageTiers.Found, original: Rendition.SourceFacts)? {
        let rule = configuration.intermediates
        // Lost: that it can't be opened now; the original may be in memory.
        guard rule.admits(plan), let half = try? await tiers.intermediate(key(request, source.record)) else {
            return nil
        }
        let original = Rendition.SourceFacts(
            format: source.record.format, width: half.description.width, height: half.description.height,
            frames: 1, hasAlpha: half.description.format.row.supportsAlpha)
        return rule.serves(plan, of: original) ? (half, original) : nil
    }

    /// Names the intermediate of a source's present content.
    private func key(_ request: ImageRequest, _ record: SourceRecord) -> IntermediateKey {
        IntermediateKey(
            source: request, hash: record.contentHash, rule: configuration.intermediates.configuration)
    }

    // MARK: - Making one

    /// A place for an intermediate, when this is a large original's second size; the plan then says to make one.
    func intermediatePlace(
        for plan: inout RenderPlan, _ request: ImageRequest, _ record: SourceRecord, keeping: Keeping
    ) -> Canvas? {
        let rule = configuration.intermediates
        guard rule.admits(plan) else { return nil }
        let key = key(request, record)
        guard let original = sightings.withLock({ $0.original(key.key) }),
            rule.serves(plan, of: original), let size = rule.size(for: original),
            let place = tiers.newIntermediate(key, of: record, keeping: keeping)
        else { return nil }
        plan.intermediate = .write(
            width: size.width, height: size.height, quality: rule.configuration.quality)
        return place
    }

    /// Keeps what was written beside a result, and remembers that there was one.
    func note(
        _ rendition: Rendition, beside place: Canvas?, for request: ImageRequest, of record: SourceRecord,
        permit: PurgeLedger.Permit
    ) async {
        guard configuration.intermediates.size(for: rendition.source) != nil else { return }
        let key = key(request, record)
        sightings.withLock { $0.note(rendition.source, key.key) }
        guard let place, let staged = place.staged, let written = rendition.intermediate else { return }
        let size = rendition.source.upright
        await tiers.store(
            EntryDescription(
                kind: .intermediate, key: key.key, keyText: key.text, sourceKey: request.sourceKey,
                sourceHash: record.contentHash, contentHash: record.contentHash, format: written.format,
                width: size.width, height: size.height, storedAt: clock()),
            staged, byteCount: written.byteCount, permit: permit)
    }
}

/// Names the intermediate of one source's content, made by one rule.
struct IntermediateKey {
    let text: String
    let key: CacheKey

    init(source request: ImageRequest, hash: ContentHash, rule: IntermediateConfiguration) {
        text = """
            intermediate \(ImageRequest.engineEpoch) side \(rule.side) quality \(rule.quality)
            content \(hash.shortHex)
            \(request.sourceKeyText)
            """
        key = CacheKey(canonicalText: text)
    }
}
