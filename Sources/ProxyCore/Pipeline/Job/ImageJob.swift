// SPDX-License-Identifier: Apache-2.0

import Bodies
import Cache
package import Freshness
import Imaging
import Observability
import Primitives
import Rendering
package import Request
import Synchronization

/// The steps of a request that no cache can answer on the event loop: look up, join or start the task that makes the image,
/// and in the task decide what to make it from, usable source, stored result, original, rendering. This file has the steps
/// from top to bottom; how a task is joined is in `ImageJob+Join.swift`, and what a step does inside in the others.
extension ImagePipeline {
    /// The image for `request`, from the nearest place that has it; however many clients ask at once, it is made once.
    ///
    /// Two clients that ask for the same new image: (1) the first one's `join` starts a task, which fetches and renders in `run`,
    /// (2) the second one's subscribes to it, (3) the first client hangs up: the server cancels the calling task, `result` ends with
    /// `clientLeft`, its subscription is released, and the second client gets the image. Had that left, too, the end of the last
    /// subscription would cancel the task, and with it fetch and transform.
    ///
    /// - Parameters:
    ///   - directives: the client's, for the cache.
    ///   - cookies: the client's, for an image that it alone may have: made in a task that no other request joins, and stored
    ///     nowhere (SDWebImage: handleCookies). Nil for a shared image.
    ///   - context: that of the client's request.
    ///   - streaming: which images the client can receive while they are being fetched.
    package func answer(
        for request: ImageRequest, directives: RequestDirectives = .none, cookies: [String]? = nil,
        context: FetchContext, streaming: StreamingImage.Support
    ) async throws(PipelineError) -> ImageAnswer {
        let job = ImageJob(self, request, directives: directives, cookies: cookies, context: context)
        if let hit = job.lookUp() { return .whole(await job.withLinkedTags(hit)) }
        // Held while its result is awaited: its release ends the subscription.
        let subscription = await job.join()
        if var image = await job.streamingImage(of: subscription, for: streaming) {
            image.isTagged = await job.linkTags()
            return .streaming(image)
        }
        return .whole(await job.withLinkedTags(try await job.result(of: subscription)))
    }
}

/// One image to be made: the request, the client's cache directives, and its cookies.
struct ImageJob: Sendable {
    let pipeline: ImagePipeline
    var request: ImageRequest
    /// The cache directives of the client.
    var directives: RequestDirectives
    /// That of the request that it is made for; requests that join it have their own.
    let context: FetchContext
    /// The client's cookies, for an image that it alone may have.
    let cookies: [String]
    /// Distinguishes a job for one client alone from all others; nil where the image is shared.
    let privateID: UInt64?
    /// What its source's home and the shared tier have answered; nil where there is neither.
    let sharedAnswers: SharedAnswers?
    /// Guards what is stored of this job: what a purge removes while it runs must not come back.
    ///
    /// Issued in `init`, before anything is looked up; again in `run`, since a purge before the task's start does not concern it,
    /// unless the source is `given`, which was fetched under the first one. A fetch has one of its own (`OriginalFetch.token`),
    /// issued before the origin is asked: that guards the original and the record, also for the jobs that join the fetch.
    var token: PurgeToken
    /// A source that the caller has, such as one that a refresh has just fetched: it is not fetched again.
    var given: Source.Given?
    /// Has later requests not join its task; nil until it is joined.
    var detachTask: (@Sendable () -> Void)?
    /// The clients that its renderings count for; nil for the client of `context` alone.
    var waiters: Waiters?
    /// Where subscribers learn of bytes that may go out while they are received; nil where none may.
    var streamProgress: ImageProgress?

    /// What is to be done for a client.
    init(
        _ pipeline: ImagePipeline, _ request: ImageRequest, directives: RequestDirectives = .none,
        cookies: [String]? = nil, context: FetchContext = .none
    ) {
        (self.pipeline, self.request, self.directives) = (pipeline, request, directives)
        self.context = context
        self.cookies = cookies ?? []
        privateID = cookies.map { _ in pipeline.lastPrivateID.wrappingAdd(1, ordering: .relaxed).newValue }
        sharedAnswers = pipeline.tiers.asksOtherNodes ? SharedAnswers() : nil
        token = pipeline.tiers.purgeLog.token(for: request.resultKey, request.sourceKey)
    }

    var isPrivate: Bool { privateID != nil }
    /// How far what is fetched or made may be stored, beside what the configuration and the origin say.
    var scope: StorageScope { isPrivate ? .nothing : directives.scope }
    var tiers: ImageTiers { pipeline.tiers }
    var failures: FailedURLs { pipeline.failures }
    var freshness: FreshnessPolicy { pipeline.freshness }
    var metrics: Metrics { pipeline.metrics }
    var now: WallTime { pipeline.clock() }
    var priority: FetchPriority { request.delivery.priority ?? .normal }

    // MARK: - Look up

    /// What memory has; a client that waits for the disk gets it only if it is there, too.
    fileprivate func lookUp() -> ImageResponse? {
        guard !isPrivate, let entry = tiers.entry(for: request.resultKey),
            scope != .durable || entry.isDurable
        else { return nil }
        return answer(from: entry)
    }

    /// The answer from an entry; nil for none, and for one that may not serve the request now.
    private func answer(from entry: MemoryEntry?) -> ImageResponse? {
        guard !isPrivate, let entry, pipeline.serves(entry.description, entry.record, request, at: now)
        else { return nil }
        let reuse = freshness.reuse(of: entry.record, at: now, for: directives)
        guard reuse != .forbidden else { return nil }
        let provenance = ImageResponse.Provenance(reuse, ofFresh: entry.isOnDisk ? .disk : .memory)
        if provenance.isStale { pipeline.staleAnswers.count(entry) }
        refreshIfNeeded(provenance)
        return ImageResponse(hit: entry, provenance: provenance)
    }

    /// Has a stale source that is being served refreshed, unless the client wants no origin asked.
    private func refreshIfNeeded(_ provenance: ImageResponse.Provenance) {
        guard provenance == .stale(.whileRevalidating), !directives.onlyIfCached else { return }
        pipeline.startRefresh(of: request, context)
    }

    // MARK: - Decide what to make it from

    /// The image from the nearest place that has it.
    func image() async throws(PipelineError) -> ImageResponse {
        // Look again: (1) A misses memory, (2) the task of B, which began before, stores the image and ends, (3) A finds no
        // task and starts this one. Without this line A would make the image a second time.
        if let hit = answer(from: tiers.peek(request.resultKey)) { return hit }
        // What the rule has encoded anew may be here already, whether or not the original is.
        if request.plan == nil, !request.mayPassThrough { return try await rasterized.image() }
        let source: Source
        if let given { source = given.source } else { source = try await usableSource() }
        let job = decided(by: source.record)
        if job.request.resultKey != request.resultKey, case .stored = source.provenance,
            let hit = job.answer(from: tiers.peek(job.request.resultKey))
        {
            return hit
        }
        return try await job.image(of: source)
    }

    /// The same once the source is known: without a plan where the request skips its format, with one where it must not go out
    /// as it is. A drawing may hold scripts and references; a redirect may have led to what is encoded anew.
    func decided(by record: SourceRecord) -> ImageJob {
        guard pipeline.mayPass(record) else { return request.plan == nil ? rasterized : self }
        return request.skips(record.format) ? made(by: nil) : self
    }

    /// The same for a source that must not go out as it is.
    var rasterized: ImageJob { made(by: pipeline.configuration.rasterPlan) }

    /// The same by another plan, or by none.
    private func made(by plan: RenderPlan?) -> ImageJob {
        var job = withoutStreaming
        job.request = request.made(by: plan)
        job.token = token.extended(to: job.request.resultKey)
        return job
    }

    /// The same where no byte goes out before all are there.
    var withoutStreaming: ImageJob {
        var job = self
        job.streamProgress = nil
        return job
    }

    /// The image once it is known what of the source may be used.
    private func image(of source: Source) async throws(PipelineError) -> ImageResponse {
        if request.plan == nil, source.body != nil { return await passThrough(source) }
        if !isPrivate, let stored = try await resultWithoutOriginal(of: source) {
            refreshIfNeeded(stored.provenance)
            return stored
        }
        let original = try await original(of: source)
        refreshIfNeeded(original.provenance)
        guard let plan = request.plan else { return await passThrough(original) }
        return try await renderedResult(of: original, by: plan)
    }

    // MARK: - Usable source

    /// What is known of the source now: as it is stored, confirmed by the origin, or fetched.
    ///
    /// Stored knowledge is used when it is fresh, or stale and permitted; in place of an error where that is permitted.
    func usableSource() async throws(PipelineError) -> Source {
        if isPrivate {
            guard !request.delivery.options.contains(.fromCacheOnly) else { throw .notCached }
            return try await fetch()
        }
        let known = try await context.traced("cache record") { () async throws(PipelineError) in
            try await tiers.usableRecord(for: request, client: context.client)
        }
        let shared = await sharedSource(insteadOf: known)
        // Read again after the look-up: a task that began later may have fetched the source meanwhile, and has ended.
        let latest = tiers.asksOtherNodes && shared == nil ? tiers.recordAgain(for: request) ?? known : known
        guard let record = shared?.record ?? latest, request.matchesStoreAs(record) else {
            guard !directives.onlyIfCached else { throw .notCached }
            return try await fetch()
        }
        let reuse = freshness.reuse(of: record, at: now, for: directives)
        guard reuse != .forbidden else {
            guard !directives.onlyIfCached else { throw .notCached }
            return try await revalidatedSource(record, isShared: shared != nil)
        }
        var source = Source(record: record, provenance: .init(reuse, ofFresh: .stored))
        guard let shared else { return source }
        source.body = shared.body
        // Another node's picture as it is, fresh.
        if source.provenance == .stored { source.provenance = shared.provenance }
        return source
    }

    /// Asks the origin about a source that is on record; when that fails, falls back on the record where it may.
    /// - Parameter isShared: whether it is the shared tier's, which may then have the picture, too.
    private func revalidatedSource(
        _ record: SourceRecord, isShared: Bool
    ) async throws(PipelineError) -> Source {
        // Validators are worth sending only when a 304 would leave something to serve.
        guard isShared || mayConfirm(record) else { return try await fetch() }
        let isRemembered =
            !directives.retryFailed
            && failures.explained(request, context.history, record.contentHash, at: now.seconds).source != nil
        do throws(PipelineError) {
            // Nothing goes out while it is received: a fetch that breaks off could not be replaced by the record.
            var source = try await withoutStreaming.fetch(validating: directives.noCache ? nil : record)
            source.provenance.setForwardReason(record.isFresh(at: now) ? .request : .stale)
            return source
        } catch {
            context.forwarding?.setReason(record.isFresh(at: now) ? .request : .stale)
            guard mayServe(record, despite: error) else { throw error }
            let wasAsked = !isRemembered && error.wasForwarded
            return Source(record: record, provenance: .stale(.onError(error, wasAsked: wasAsked)))
        }
    }

    /// Whether what is on record may be served where the origin has failed so.
    func mayServe(_ record: SourceRecord, despite error: PipelineError) -> Bool {
        error.allowsStale && freshness.mayServeOnError(record, at: now, for: directives)
    }

    /// Whether a 304 would leave something to serve, as far as is known without reading the disk.
    func mayConfirm(_ record: SourceRecord) -> Bool {
        tiers.mayHold(request) || mayHoldIntermediate(of: record)
    }

    // MARK: - Stored result

    /// The result as a tier holds it, if it was made from the source's present content; else one made from the intermediate.
    private func resultWithoutOriginal(of source: Source) async throws(PipelineError) -> ImageResponse? {
        let stored = try await context.traced("cache result") { () async throws(PipelineError) in
            try await tiers.result(
                for: request, hash: source.record.contentHash, client: context.client)
        }
        guard let found = stored, found.description.isUsable(at: now.seconds) else {
            if let shared = await sharedResult(of: source) { return shared }
            guard let plan = request.plan else { return nil }
            return try await derivedRendition(of: source, by: plan)
        }
        offerUse(found.description, of: source.record)
        let tier: ImageResponse.Provenance = found.entry?.isOnDisk ?? true ? .disk : .memory
        var response = ImageResponse(of: source, found.description, found.body, provenance: tier)
        response.description.name(request.resultKey, request.resultKeyText)
        response.isStored = true
        if response.provenance.isStale { pipeline.staleAnswers.count(found) }
        // After a 304 the entry in memory has the new record already. An improvement may have put other bytes there meanwhile.
        response.entry = found.entry.flatMap { _ in tiers.peek(request.resultKey) }
            .flatMap { $0.description.contentHash == found.description.contentHash ? $0 : nil }
        if tiers.peek(request.resultKey) == nil { await promote(&response) }
        if !context.isPrefetch { tiers.keepOpen(&response, token: token) }
        return response
    }

    /// Puts a response's bytes into memory, where they may be: what is prefetched takes no place there if the disk has it.
    func promote(_ response: inout ImageResponse) async {
        if mayPromote { await tiers.promote(&response, token: token) }
    }

    /// Whether memory may get what is made.
    var mayPromote: Bool { !(context.isPrefetch && tiers.results.usesDisk) }

    // MARK: - Original

    /// The original's bytes: just fetched, or stored and still those of the record; else fetched now.
    func original(of source: Source) async throws(PipelineError) -> Source {
        if source.body != nil { return source }
        let stored = try await context.traced("cache original") { () async throws(PipelineError) in
            try await tiers.original(
                for: request, hash: source.record.contentHash, client: context.client)
        }
        if let stored {
            offerUse(stored.description, of: source.record)
            return source.with(stored)
        }
        if let shared = await sharedOriginal(of: source) { return shared }
        // The origin has just said no; there was no copy after all.
        if case .stale(.onError(let error, _)) = source.provenance { throw error }
        guard !directives.onlyIfCached else { throw .notCached }
        return try await fetch()
    }

    // MARK: - Rendering and storing

    /// The result as it is made from the original, or why it can't be, which is remembered.
    private func renderedResult(
        of source: Source, by plan: RenderPlan
    ) async throws(PipelineError) -> ImageResponse {
        if isPrivate { return try await renderAndStore(source, by: plan) }
        try refuseFailed(source.record.contentHash)
        let response: ImageResponse
        do throws(PipelineError) {
            response = try await renderAndStore(source, by: plan)
        } catch {
            // The file changed after it was stored, so the error does not concern the source.
            guard await tiers.isUnaltered(source.file, for: context.client) else {
                guard !directives.onlyIfCached else { throw .notCached }
                return try await renderedResult(of: try await fetch(), by: plan)
            }
            remember(error.of(source.record.contentHash))
            verifyDecoding(of: source, after: error)
            throw error
        }
        failures.forget(request.resultKey)
        return response
    }
}
