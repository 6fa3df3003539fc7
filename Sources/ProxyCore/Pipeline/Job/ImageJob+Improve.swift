// SPDX-License-Identifier: Apache-2.0

import Bodies
import Cache
import Freshness
import Imaging
import Observability
import Rendering
import Request

/// How a result that was made fast is replaced by a better one.
extension ImageJob {
    /// Makes a stored result once more, from the original as it is stored, and replaces the first one if it is smaller.
    func improve() async -> Metric.Improvement {
        guard let wanted = request.plan, let record = await tiers.record(for: request),
            record.isFresh(at: now),
            request.matchesStoreAs(record), !record.reuse.directives.forbidStoring,
            let first = await fastResult(of: record)
        else { return .outdated }
        let material: (RenderPlan, Source)?
        do throws(PipelineError) {
            material = try await self.material(for: first, wanted, record)
        } catch {
            return .failed
        }
        guard var (plan, source) = material else { return await keep(first, of: record) ? .kept : .outdated }
        plan.effort = .full
        if first.description.stage == .fast { plan.format = .explicit(first.description.format) }
        plan.workLimit = min(request.workLimit ?? .max, ImagePipeline.mostImprovementWork)
        // Ignored: why there is no place for it; the tiers have counted that.
        guard
            var target = try? tiers.newResult(
                first.description.kind, for: request, of: record, scope: scope(of: first)),
            let body = source.body
        else { return .failed }
        let rendition: Rendition
        do throws(RenderError) {
            rendition = try await renderWithFallback(plan, from: body, to: &target)
        } catch {
            if error == .cancelled || error == .queueFull { return .interrupted }
            if !PipelineError(error).isTemporary { _ = await keep(first, of: record) }
            return .failed
        }
        metrics.count(rendition, by: plan)
        // Workers may have been busy for long.
        guard await tiers.isUnaltered(source.file, for: context.client),
            let latest = await tiers.record(for: request), latest.contentHash == record.contentHash
        else { return .outdated }
        source.record = latest
        guard first.description.stage == .cheapest || rendition.byteCount < first.body.count else {
            return await keep(first, of: latest) ? .kept : .outdated
        }
        // Ignored: why it can't be read back; the first one stays.
        let better = try? await storeRendition(
            rendition, first.description.kind, by: plan, from: target, of: source, scope: scope(of: first))
        tiers.openFiles.remove(request.resultKey)
        return better?.isStored == true ? .replaced : .outdated
    }

    /// The result that is stored, if it was made fast from the source's present content.
    private func fastResult(of record: SourceRecord) async -> ImageTiers.Found? {
        // Ignored: that it can't be read now; it is tried again when it is requested again.
        let found = try? await tiers.result(for: request, hash: record.contentHash, client: context.client)
        guard let found, found.description.stage.isImprovable
        else { return nil }
        return found
    }

    /// What a result is made from, and the plan for that: the intermediate, where the first one was made from it, or the original;
    /// nil where neither is stored.
    /// - Throws: `queueFull` where it can't be opened now.
    private func material(
        for first: ImageTiers.Found, _ wanted: RenderPlan, _ record: SourceRecord
    ) async throws(PipelineError) -> (RenderPlan, Source)? {
        var plan = wanted
        let source = Source(record: record, provenance: .stored)
        if first.description.kind == .derived,
            let (found, original) = await intermediate(serving: plan, of: source)
        {
            plan.intermediate = .read(original)
            return (plan, source.with(found))
        }
        let original = try await tiers.original(
            for: request, hash: record.contentHash, client: context.client)
        guard let original else { return nil }
        return (plan, source.with(original))
    }

    /// Where the first result is stored.
    private func scope(of first: ImageTiers.Found) -> StorageScope {
        let description = first.description
        return tiers.disk.mayContain(description.key, kind: description.kind) ? .disk : .memory
    }

    /// Has the first result stay for good; false where it is not stored.
    private func keep(_ first: ImageTiers.Found, of record: SourceRecord) async -> Bool {
        guard first.description.stage == .fast, let bytes = await tiers.bytes(of: first.body) else {
            return false
        }
        var description = first.description
        description.stage = .kept
        return await tiers.replace(description, bytes, of: record, scope: scope(of: first), token: token)
    }
}
