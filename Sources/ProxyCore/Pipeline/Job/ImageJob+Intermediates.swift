// SPDX-License-Identifier: Apache-2.0

import Bodies
import Cache
import Freshness
import Imaging
import Primitives
import Rendering
import Request
import Synchronization

/// The smaller picture of a large original that further sizes are made from.
extension ImageJob {
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
            rendition = try await countedRendition(plan, from: found.body, to: &target)
        } catch {
            let failure = PipelineError(error)
            guard !failure.isTemporary else { throw failure }
            guard !failure.isOfPlan else {
                remember(failure.of(source.record.contentHash))
                throw failure
            }
            // Ignored: a failure to delete; it is tried again with the next use.
            _ = try? await tiers.disk.remove(found.description.key, kind: .intermediate)
            return nil
        }
        guard await tiers.isUnaltered(found.file, for: context.client) else { return nil }
        return try await storeRendition(rendition, .derived, by: plan, from: target, of: source)
    }

    /// The intermediate of a source's present content, and the original's facts; nil if no
    /// stored one suits the plan.
    func intermediate(
        serving plan: RenderPlan, of source: Source
    ) async -> (found: ImageTiers.Found, original: Rendition.SourceFacts)? {
        let rule = pipeline.configuration.intermediates
        guard rule.admits(plan) else { return nil }
        let key = intermediateKey(source.record)
        // Ignored: that it can't be opened now; the original may be in memory.
        guard let found = try? await tiers.onDisk(key.key, .intermediate, key.text, context.client) else {
            return nil
        }
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
        // Ignored: why it can't be read; the request would use the original.
        guard let hit = try? await tiers.disk.findOnIOThread(key.key, .intermediate, key.text, .inAnyFile)
        else { return nil }
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
    func newIntermediate(for plan: inout RenderPlan, _ record: SourceRecord) -> OutputTarget? {
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
    func storeIntermediate(
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
        // Ignored: why; the tier has counted it, and the next size is made from the original.
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
            hasAlpha: format.traits.supportsAlpha)
    }
}
