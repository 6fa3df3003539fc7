// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension ImagePipeline {
    /// Hot path: whether a better result is to be made in place of an entry that is asked for again; true once in a minute.
    public func shouldImprove(_ entry: MemoryEntry, at now: Int64) -> Bool {
        configuration.improve.enabled && entry.shouldImprove(at: now, every: Self.improvementInterval)
    }

    /// Has a better result made in place of an entry, when workers have nothing else to do.
    ///
    /// - Parameters:
    ///   - client: the client that asks for it again.
    ///   - request: called on a task; nil when the request can't be read.
    public func improve(
        _ entry: MemoryEntry, for client: ClientID?, as request: @escaping @Sendable () -> ImageRequest?
    ) {
        Task {
            if let request = request() { improve(request, for: client) }
        }
    }

    /// Seconds between two tries for one entry.
    private static let improvementInterval: Int64 = 60

    /// Has a better result made in place of one that was found in a tier and was made in a hurry.
    public func improve(_ image: ImageResponse, as request: ImageRequest, for client: ClientID?) {
        guard configuration.improve.enabled, image.description.stage.isImprovable else { return }
        switch image.provenance {
        case .memory, .disk, .stale: improve(request, for: client)
        case .storedOriginal, .revalidated, .fetched: return
        }
    }

    private func improve(_ request: ImageRequest, for client: ClientID?) {
        let request = request.plan == nil ? request.made(by: configuration.rasterPlan) : request
        let now = clock()
        let (isWaiting, next) = improvements.withLock { queue in
            (queue.add(request, for: client), queue.begin(at: now))
        }
        if !isWaiting { metrics.transformImprovements.increment(.refused) }
        guard let next else { return }
        Task { await improveAll(from: next) }
    }

    /// Seconds for which clients may keep a result that another one is to take the place of, counted from when it was made; nil
    /// where none is.
    public func shortLifetime(of description: EntryDescription) -> Int64? {
        guard description.stage == .cheapest || description.stage == .fast && configuration.improve.enabled
        else { return nil }
        return Int64(configuration.improve.maxAge.seconds)
    }

    /// Results that wait to be made once more.
    public var improvementCount: Int { improvements.withLock { $0.count } }

    // MARK: - One after the other

    private func improveAll(from first: ImprovementQueue.Item) async {
        var next: ImprovementQueue.Item? = first
        while let item = next {
            let outcome = await improved(item.request)
            metrics.transformImprovements.increment(outcome)
            let now = clock()
            next = improvements.withLock { queue in
                queue.end(item, wasInterrupted: outcome == .interrupted, at: now)
                return queue.begin(at: now)
            }
        }
    }

    /// Makes a stored result once more, from the original as it is stored, and puts it in the first one's place if it is smaller.
    private func improved(_ request: ImageRequest) async -> Metric.Improvement {
        // Before anything is looked up: what a purge removes while this goes on must not come back.
        let permit = tiers.ledger.permit(for: request.resultKey, request.sourceKey)
        guard let wanted = request.plan, let record = await tiers.record(for: request),
            record.isFresh(at: clock()), request.accepts(record), !record.directives.forbidStoring,
            let first = await hurried(request, of: record)
        else { return .outdated }
        let material: (RenderPlan, Source)?
        do throws(PipelineError) {
            material = try await self.material(for: first, wanted, request, record)
        } catch {
            return .failed
        }
        guard var (plan, source) = material else {
            return await keep(first, for: request, of: record, permit: permit) ? .kept : .outdated
        }
        plan.effort = .full
        if first.description.stage == .fast { plan.format = .explicit(first.description.format) }
        plan.workLimit = min(request.workLimit ?? .max, Self.mostImprovementWork)
        let keeping = keeping(first)
        // Lost: why there is no place for it; the tiers have counted that.
        guard
            var canvas = try? tiers.newResult(
                first.description.kind, for: request, of: record, keeping: keeping),
            let body = source.body
        else { return .failed }
        let rendition: Rendition
        switch await renderedInBackground(plan, from: body, on: &canvas) {
        case .success(let made): rendition = made
        case .failure(.cancelled), .failure(.queueFull): return .interrupted
        case .failure(let error):
            if !PipelineError(error).isTemporary {
                _ = await keep(first, for: request, of: record, permit: permit)
            }
            return .failed
        }
        metrics.count(rendition)
        // Workers may have been busy for long.
        guard await tiers.isUnaltered(source.hit), let latest = await tiers.record(for: request),
            latest.contentHash == record.contentHash
        else { return .outdated }
        source.record = latest
        guard first.description.stage == .cheapest || rendition.byteCount < first.body.count else {
            return await keep(first, for: request, of: latest, permit: permit) ? .kept : .outdated
        }
        // Lost: why it can't be read back; the first one stays.
        let better = try? await finish(
            rendition, first.description.kind, by: plan, on: canvas, of: source, for: request,
            keeping: keeping,
            permit: permit)
        tiers.files.remove(request.resultKey)
        return better?.isStored == true ? .replaced : .outdated
    }

    /// The most work of a job that no client waits for, in weighted megapixels: it ends with a client's job, but a worker that is
    /// ended has to be started.
    private static let mostImprovementWork = 80

    /// The result that is stored, if it was made in a hurry from the source's present content.
    private func hurried(_ request: ImageRequest, of record: SourceRecord) async -> ImageTiers.Found? {
        // Lost: that it can't be read now; it is tried again when it is asked for again.
        guard let found = try? await tiers.result(for: request, hash: record.contentHash),
            found.description.stage.isImprovable
        else { return nil }
        return found
    }

    /// What a result is made from, and the plan for that: the intermediate, where the first one was made from it, or the original;
    /// nil where neither is stored.
    /// - Throws: `queueFull` where it can't be opened now.
    private func material(
        for first: ImageTiers.Found, _ wanted: RenderPlan, _ request: ImageRequest, _ record: SourceRecord
    ) async throws(PipelineError) -> (RenderPlan, Source)? {
        var plan = wanted
        let source = Source(record: record, provenance: .storedOriginal)
        if first.description.kind == .derived,
            let (half, original) = await intermediate(serving: plan, for: request, of: source)
        {
            plan.intermediate = .read(original)
            plan.decodableFormats = [half.description.format]
            return (plan, source.with(half))
        }
        guard let original = try await tiers.original(for: request, hash: record.contentHash) else {
            return nil
        }
        return (plan, source.with(original))
    }

    /// How far the first result was kept.
    private func keeping(_ first: ImageTiers.Found) -> Keeping {
        let description = first.description
        return tiers.disk.mayContain(description.key, kind: description.kind) ? .disk : .memory
    }

    private func renderedInBackground(
        _ plan: RenderPlan, from body: StoredBody, on canvas: inout Canvas
    ) async -> Result<Rendition, RenderError> {
        let place = canvas
        do throws(PipelineError) {
            let (result, used) = try await RenderInterest(isBackground: true).carried {
                () async throws(PipelineError) in
                var canvas = place
                do throws(RenderError) {
                    let rendition = try await self.rendered(plan, from: body, on: &canvas)
                    return (Result<Rendition, RenderError>.success(rendition), canvas)
                } catch {
                    return (.failure(error), canvas)
                }
            }
            canvas = used
            return result
        } catch {
            return .failure(.cancelled)
        }
    }

    /// Has the first result stay for good; false where it is not stored.
    private func keep(
        _ first: ImageTiers.Found, for request: ImageRequest, of record: SourceRecord,
        permit: PurgeLedger.Permit
    ) async -> Bool {
        guard first.description.stage == .fast, let bytes = await tiers.bytes(of: first.body) else {
            return false
        }
        var description = first.description
        description.stage = .kept
        return await tiers.replace(description, bytes, of: record, keeping: keeping(first), permit: permit)
    }

    // MARK: - Which results

    /// How a result was made, for what becomes of it.
    func stage(of rendition: Rendition, by plan: RenderPlan) -> ResultStage {
        if rendition.isCheapest { return .cheapest }
        guard plan.effort == .fast, plan.format != .information, rendition.format.hasFastEffort else {
            return .final
        }
        return isWorthImproving(rendition, plan) ? .fast : .kept
    }

    /// Whether a result is to be made once more: not one of the best quality within `max_bytes`, since its size says nothing, nor one
    /// that would keep a worker for long.
    private func isWorthImproving(_ rendition: Rendition, _ plan: RenderPlan) -> Bool {
        guard configuration.improve.enabled, plan.maxBytes == nil else { return false }
        var plan = plan
        plan.effort = .full
        let work = WorkEstimate(header: rendition.source.header, frames: rendition.frames, plan: plan)
        let pixels = Double(rendition.width * rendition.height * rendition.frames) / 1_000_000
        return work.cost(of: rendition.format) * pixels <= Double(Self.mostImprovementWork) * 3 / 4
    }
}
