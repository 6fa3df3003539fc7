// SPDX-License-Identifier: Apache-2.0

import Bodies
package import Cache
package import Freshness
package import Imaging
package import Loading
package import Observability
package import Origins
package import Primitives
package import Rendering
package import Request
import Synchronization
package import URLs

/// The way of a request from memory to the origin and back: SDWebImage's manager as one readable function.
///
/// `cachedEntry` is the hot path; `response` tells the rest of the story. Safe from any thread.
package final class ImagePipeline: Sendable {
    let tiers: ImageTiers
    let loader: any ImageLoading
    let renderer: any ImageRendering
    let failures: FailureMemory
    let freshness: FreshnessPolicy
    let configuration: Configuration
    let metrics: Metrics
    let clock: @Sendable () -> Int64

    /// Fetches under way, by source; a conditional one may end without a body, so nobody who needs one boards it.
    let fetches = FlightTable<FetchKey, OriginalFetch, Source>()
    /// Results being made, by result key and what their clients ask of the cache.
    let renderings = FlightTable<RenderingKey, Arrival, ImageResponse>()
    /// Flights that go on without a client, if need be.
    private let background = Atomic(0)
    /// Flights for one client alone, so far.
    let loners = Atomic<UInt64>(0)
    /// Sources being refreshed in the background.
    let refreshes: Mutex<RefreshDesk>
    /// Large originals of which something has been made.
    let sightings: Mutex<Sightings>
    /// Results that wait for a better one.
    let improvements: Mutex<ImprovementQueue>

    /// What the pipeline itself must know of the configuration.
    package struct Configuration: Sendable {
        /// Most bytes of an original.
        package var maxSourceBytes: Int
        /// Formats that are let in.
        package var decodableFormats: Set<ImageFormat>
        /// Whether drawings may go out as they came.
        package var passesDrawings = false
        /// What is made of a source that must not go out as it is, because it is no raster image.
        package var rasterPlan: RenderPlan
        /// How sources are treated, for who names one without asking for an image.
        package var origins: OriginRules
        /// Stand-ins for large originals.
        let intermediates: IntermediateRule
        /// Better results in place of those made in a hurry.
        let improve: ImproveConfiguration

        /// Called when a refresh in the background has failed, on its task.
        package var refreshFailed: @Sendable (SourceURL, PipelineError) -> Void = { _, _ in }

        /// Collects the settings.
        package init(
            maxSourceBytes: Int, decodableFormats: Set<ImageFormat>,
            rasterPlan: RenderPlan = RenderPlan(format: .source), origins: OriginRules = .none,
            intermediates: IntermediateConfiguration = IntermediateConfiguration(),
            improve: ImproveConfiguration = ImproveConfiguration()
        ) {
            self.improve = improve
            self.maxSourceBytes = maxSourceBytes
            self.decodableFormats = decodableFormats
            self.rasterPlan = rasterPlan
            self.origins = origins
            self.intermediates = IntermediateRule(configuration: intermediates)
        }
    }

    /// Marries the rooms.
    /// - Parameters:
    ///   - predecessor: whose place this one takes, with other settings in the same rooms; its counts go on.
    ///   - clock: seconds since 1970.
    package init(
        tiers: ImageTiers, loader: any ImageLoading, renderer: any ImageRendering, failures: FailureMemory,
        freshness: FreshnessPolicy, configuration: Configuration, metrics: Metrics,
        succeeding predecessor: ImagePipeline? = nil, clock: @escaping @Sendable () -> Int64
    ) {
        self.tiers = tiers
        self.loader = loader
        self.renderer = renderer
        self.failures = failures
        self.freshness = freshness
        self.configuration = configuration
        self.metrics = metrics
        self.clock = clock
        let bounds = freshness.refreshBounds
        refreshes = Mutex(RefreshDesk(limit: bounds.limit, pause: bounds.pause))
        sightings = Mutex(Sightings(capacity: configuration.intermediates.configuration.originals))
        improvements = Mutex(ImprovementQueue(capacity: configuration.improve.queue))
        staleAnswers = predecessor?.staleAnswers ?? StaleTally()
        if predecessor == nil { metrics.hostBreakersOpen.observe { failures.openHosts } }
    }

    /// Stale copies served, for the metrics.
    package let staleAnswers: StaleTally

    /// Flights under way: fetches and renderings, for the metrics.
    package var flightCounts: (fetches: Int, renderings: Int) { (fetches.count, renderings.count) }

    /// An entry that may be served at once.
    package struct CachedEntry: Sendable {
        /// The entry.
        package let entry: MemoryEntry
        /// Whether it is to be refreshed while it is served.
        package let isStale: Bool
    }

    /// Hot path: what the memory tier may answer a client with that asks nothing special.
    ///
    /// One shard lock, no suspension, no allocation.
    package func cachedEntry(for key: CacheKey, at now: Int64) -> CachedEntry? {
        guard let entry = tiers.entry(for: key), entry.description.isUsable(at: now),
            entry.description.kind != .original || !entry.record.directives.contains(.reencoded)
        else { return nil }
        if entry.record.isFresh(at: now) { return CachedEntry(entry: entry, isStale: false) }
        guard freshness.mayServeWhileRevalidating(entry.record, at: now) else { return nil }
        staleAnswers.count(entry)
        return CachedEntry(entry: entry, isStale: true)
    }

    /// Tells the disk tier that an entry is in use though nobody reads it there, or a sweep would take it for unused.
    package func touch(_ entry: MemoryEntry) {
        let description = entry.description
        if description.kind.isResult { tiers.disk.touch(description.key, kind: description.kind) }
        tiers.disk.touch(description.sourceKey, kind: .original)
    }

    /// The image for `request`, from the nearest place that has it; however many ask at once, it is made once.
    ///
    /// Cancelling the task leaves the flight; the last one to leave cancels the fetch and the transform.
    package func response(
        for request: ImageRequest, asking client: RequestDirectives = .none
    ) async throws(PipelineError) -> ImageResponse {
        let entry = tiers.entry(for: request.resultKey)
        if mayAnswerAtOnce(entry, client), let hit = hit(entry, for: request, asking: client) {
            return await tagged(hit, for: request)
        }
        let seat = await board(request, asking: client)
        return try await tagged(response(of: seat, for: request, asking: client), for: request)
    }

    /// The same, or what is known of the image as soon as its bytes can go out while they arrive.
    ///
    /// - Parameter streaming: what the client can follow.
    package func answer(
        for request: ImageRequest, asking client: RequestDirectives = .none,
        streaming: ArrivingImage.Following
    ) async throws(PipelineError) -> ImageAnswer {
        let entry = tiers.entry(for: request.resultKey)
        if mayAnswerAtOnce(entry, client), let hit = hit(entry, for: request, asking: client) {
            return .whole(await tagged(hit, for: request))
        }
        let answer = try await answer(
            for: request, aboard: board(request, asking: client), asking: client, streaming: streaming)
        switch answer {
        case .whole(let response): return .whole(await tagged(response, for: request))
        case .arriving(var image):
            image.isTagged = await tiers.link(request)
            return .arriving(image)
        }
    }

    /// The answer, as soon as a purge by the request's tags finds what it is; without them where none would.
    ///
    /// Behind a flight, too, although `board` has written them down before: (1) A boards, (2) a purge takes the tag off, (3)
    /// what A flew on is stored, for it began after the purge. Without this the next purge would not find it.
    private func tagged(_ response: ImageResponse, for request: ImageRequest) async -> ImageResponse {
        guard await !tiers.link(request) else { return response }
        var response = response
        // No entry, no alias: the next request for it tries again.
        (response.isTagged, response.entry) = (false, nil)
        return response
    }

    /// Whether what memory holds is all that the client waits for; else it is written down first, once for all who wait.
    private func mayAnswerAtOnce(_ entry: MemoryEntry?, _ client: RequestDirectives) -> Bool {
        client.keeping != .durable || entry?.isDurable == true
    }

    /// What the flight comes to, or what it has by the time that bytes can go out.
    func answer(
        for request: ImageRequest, aboard seat: RenderingSeat, asking client: RequestDirectives,
        streaming: ArrivingImage.Following
    ) async throws(PipelineError) -> ImageAnswer {
        if request.isUntouched, streaming != .nothing, !client.waitsForStore,
            let fetch = await arrival(in: seat),
            let image = arrivingImage(request, from: fetch, aboard: seat, asking: client),
            image.length != nil || streaming == .anyLength
        {
            return .arriving(image)
        }
        return .whole(try await response(of: seat, for: request, asking: client))
    }

    /// The fetch whose bytes may go out while they arrive; a small image gets a moment to be there as a whole.
    private func arrival(in seat: RenderingSeat) async -> OriginalFetch? {
        guard let fetch = await seat.progress.fetch() else { return nil }
        if let length = fetch.head?.contentLength, length <= Self.smallImage {
            await seat.progress.end(within: Self.patience)
        }
        return fetch
    }

    /// Images of so many bytes are rather answered as a whole, with an entity tag: as many as stay in memory.
    private static let smallImage = GrowingBody.Configuration().memoryLimit.bytes
    /// How long at most that may keep a small image's first byte: for what is on its way in the same moment, not for what
    /// the origin has yet to send.
    private static let patience = Duration.milliseconds(1)

    /// Makes the result from what a refresh has fetched, without asking the origin again; clients that ask meanwhile join.
    func makeResult(for request: ImageRequest, from fetched: FetchedSource) async throws(PipelineError) {
        _ = try await response(of: board(request, asking: .none, having: fetched))
        // Lost: whether a purge by tag finds it; a client's request for it ties the tags anew.
        _ = await tiers.link(request)
    }

    /// Takes a seat in the flight that makes the image.
    ///
    /// - Parameter fetched: what it is to be made from, where that is known.
    private func board(
        _ request: ImageRequest, asking client: RequestDirectives, having fetched: FetchedSource? = nil
    ) async -> RenderingSeat {
        var client = client
        // Before the flight begins, so that a purge by tag finds it; what no purge would find is not kept.
        if await !tiers.link(request) { client.noStore = true }
        let key = RenderingKey(request, asking: client)
        let interest = RenderInterest(request.delivery.priority)
        let seat = renderings.join(key, progress: Arrival(interest: interest)) {
            [client] (arrival) async throws(PipelineError) in
            try await arrival.interest.carried { () async throws(PipelineError) in
                try await self.produceAndKeep(
                    request, asking: client, telling: request.isUntouched ? arrival : nil, having: fetched)
            }
        }
        if !seat.isLeader { seat.progress.interest.join(request.delivery.priority) }
        if seat.isLeader { seat.whenLanded { [arrival = seat.progress] in arrival.end() } }
        if request.delivery.options.contains(.continueInBackground) { keepFlying(seat) }
        if !seat.isLeader { hurry(request, asking: client) }
        return seat
    }

    /// What the work of another comes to, or, where that was refused because of its client, what comes of work of one's own.
    private func response(
        of seat: RenderingSeat, for request: ImageRequest, asking client: RequestDirectives
    ) async throws(PipelineError) -> ImageResponse {
        do {
            return try await response(of: seat)
        } catch {
            guard !seat.isLeader, error.isOfItsClient else { throw error }
            return try await response(of: board(request, asking: client))
        }
    }

    private func response(of seat: RenderingSeat) async throws(PipelineError) -> ImageResponse {
        var response: ImageResponse
        do {
            response = try await seat.output()
        } catch {
            if !seat.isLeader { FetchContext.current.forwarding?.join(seat.progress.forwarding) }
            throw error
        }
        response.isCollapsed = !seat.isLeader
        if response.isCollapsed { metrics.coalescedRequests.increment(.transform) }
        return response
    }

    typealias RenderingSeat = FlightTable<RenderingKey, Arrival, ImageResponse>.Seat

    /// Holds on to a seat, so that the flight goes on when everybody has left.
    private func keepFlying(_ seat: RenderingSeat) {
        guard background.wrappingAdd(1, ordering: .relaxed).newValue <= Self.maxInBackground else {
            background.wrappingSubtract(1, ordering: .relaxed)
            return
        }
        Task {
            // Lost: how it ended; those who wait hear it, and what failed is counted where it did.
            _ = try? await seat.output()
            background.wrappingSubtract(1, ordering: .relaxed)
        }
    }

    /// Most flights that go on without a client.
    private static let maxInBackground = 256

    private func hit(
        _ entry: MemoryEntry?, for request: ImageRequest, asking client: RequestDirectives
    ) -> ImageResponse? {
        // What may be passed on as it is, and what originals are to be, can have changed since it was stored.
        guard let entry, request.accepts(entry.record), entry.description.isUsable(at: clock()),
            request.plan != nil || request.mayPassThrough && mayPass(entry.record)
        else { return nil }
        switch freshness.reuse(of: entry.record, at: clock(), for: client) {
        case .fresh: return ImageResponse(hit: entry, provenance: entry.isOnDisk ? .disk : .memory)
        case .whileRevalidating:
            staleAnswers.count(entry)
            refreshIfAllowed(request, asking: client)
            return ImageResponse(hit: entry, provenance: .stale(.whileRevalidating))
        case .asClientAllows:
            staleAnswers.count(entry)
            return ImageResponse(hit: entry, provenance: .stale(.asClientAllows))
        case .forbidden: return nil
        }
    }

    /// Runs at most once at a time for a result; ends when it is written down, where the client waits for that.
    private func produceAndKeep(
        _ request: ImageRequest, asking client: RequestDirectives, telling arrival: Arrival?,
        having fetched: FetchedSource?
    ) async throws(PipelineError) -> ImageResponse {
        let permit = tiers.ledger.permit(for: request.resultKey, request.sourceKey)
        var response = try await produce(request, asking: client, telling: arrival, having: fetched)
        if client.keeping == .durable { await tiers.secure(&response, for: request, permit: permit) }
        return response
    }

    /// The image from the nearest place that has it.
    private func produce(
        _ request: ImageRequest, asking client: RequestDirectives, telling arrival: Arrival? = nil,
        having fetched: FetchedSource? = nil
    ) async throws(PipelineError) -> ImageResponse {
        // Taken before anything is looked up: what a purge removes while this goes on must not come back.
        let permit =
            fetched?.permit.extended(to: request.resultKey)
            ?? tiers.ledger.permit(for: request.resultKey, request.sourceKey)
        // Look again: (1) A misses memory, (2) B, who flew before, stores and lands, (3) A finds no flight and starts
        // this one. Without this line A would make the result a second time.
        if let hit = hit(tiers.peek(request.resultKey), for: request, asking: client) { return hit }
        // What the rule has encoded anew may be here already, whether or not the original is.
        if request.plan == nil, !request.mayPassThrough {
            return try await produce(
                request.made(by: configuration.rasterPlan), asking: client, having: fetched)
        }
        let source: Source
        if let fetched {
            source = fetched.source
        } else {
            source = try await usableSource(for: request, asking: client, telling: arrival)
        }
        // A drawing may hold scripts and references: it goes out as pixels only. A redirect may have led to what is encoded anew.
        if request.plan == nil, !mayPass(source.record) {
            let made = request.made(by: configuration.rasterPlan)
            if case .storedOriginal = source.provenance,
                let hit = hit(tiers.peek(made.resultKey), for: made, asking: client)
            {
                return hit
            }
            return try await produce(
                made, from: source, asking: client, telling: nil, permit: permit.extended(to: made.resultKey))
        }
        return try await produce(request, from: source, asking: client, telling: arrival, permit: permit)
    }

    /// The same once it is known what of the source may be used.
    private func produce(
        _ request: ImageRequest, from source: Source, asking client: RequestDirectives,
        telling arrival: Arrival?, permit: PurgeLedger.Permit
    ) async throws(PipelineError) -> ImageResponse {
        if request.plan == nil, source.body != nil {
            return await passThrough(source, for: request, permit: permit)
        }
        if let stored = try await storedResult(for: request, of: source, permit: permit) {
            if stored.provenance == .stale(.whileRevalidating) { refreshIfAllowed(request, asking: client) }
            return stored
        }
        if let plan = request.plan,
            let derived = try await derivedResponse(
                by: plan, for: request, of: source, asking: client, permit: permit)
        {
            if derived.provenance == .stale(.whileRevalidating) { refreshIfAllowed(request, asking: client) }
            return derived
        }
        let original = try await original(for: request, of: source, asking: client, telling: arrival)
        if original.provenance == .stale(.whileRevalidating) { refreshIfAllowed(request, asking: client) }
        guard let plan = request.plan else {
            return await passThrough(original, for: request, permit: permit)
        }
        return try await render(original, by: plan, for: request, asking: client, permit: permit)
    }

    /// Has a stale source refreshed, unless the client wants no origin asked.
    private func refreshIfAllowed(_ request: ImageRequest, asking client: RequestDirectives) {
        if !client.onlyIfCached { startRefresh(of: request) }
    }

    /// Whether a source may go out as it came, as far as that does not depend on the rule for its URL.
    func mayPass(_ record: SourceRecord) -> Bool {
        (record.format != .svg || configuration.passesDrawings) && !record.directives.contains(.reencoded)
    }
}
