// SPDX-License-Identifier: Apache-2.0

/// The way of a request from memory to the origin and back: SDWebImage's manager as one readable function.
///
/// `cachedEntry` is the hot path; `response` tells the rest of the story. Safe from any thread.
public final class ImagePipeline: Sendable {
    let tiers: ImageTiers
    let loader: any ImageLoading
    let renderer: any Rendering
    let failures: FailureMemory
    let freshness: FreshnessPolicy
    let configuration: Configuration
    let metrics: Metrics
    let clock: @Sendable () -> Int64

    /// Fetches under way, by source; a conditional one may end without a body, so nobody who needs one boards it.
    let fetches = FlightTable<FetchKey, OriginalFetch, Source>()
    /// Results being made, by result key.
    private let renderings = FlightTable<CacheKey, Void, ImageResponse>()

    /// What the pipeline itself must know of the configuration.
    public struct Configuration: Sendable {
        /// Most bytes of an original.
        public var maxSourceBytes: Int
        /// Formats that are let in.
        public var decodableFormats: Set<ImageFormat>

        /// Collects the settings.
        public init(maxSourceBytes: Int, decodableFormats: Set<ImageFormat>) {
            self.maxSourceBytes = maxSourceBytes
            self.decodableFormats = decodableFormats
        }
    }

    /// Marries the rooms.
    /// - Parameter clock: seconds since 1970.
    public init(
        tiers: ImageTiers, loader: any ImageLoading, renderer: any Rendering, failures: FailureMemory,
        freshness: FreshnessPolicy, configuration: Configuration, metrics: Metrics,
        clock: @escaping @Sendable () -> Int64
    ) {
        self.tiers = tiers
        self.loader = loader
        self.renderer = renderer
        self.failures = failures
        self.freshness = freshness
        self.configuration = configuration
        self.metrics = metrics
        self.clock = clock
    }

    /// Flights under way: fetches and renderings, for the metrics.
    public var flightCounts: (fetches: Int, renderings: Int) { (fetches.count, renderings.count) }

    /// Hot path: a fresh entry of the memory tier. One shard lock, no suspension, no allocation.
    public func cachedEntry(for key: CacheKey, at now: Int64) -> MemoryEntry? {
        guard let entry = tiers.memory.entry(for: key), entry.record.isFresh(at: now) else { return nil }
        return entry
    }

    /// Tells the disk tier that an entry is in use though nobody reads it there, or a sweep would take it for unused.
    public func touch(_ entry: MemoryEntry) {
        let description = entry.description
        if description.kind == .result { tiers.disk.touch(description.key, kind: .result) }
        tiers.disk.touch(description.sourceKey, kind: .original)
    }

    /// The image for `request`, from the nearest place that has it; however many ask at once, it is made once.
    ///
    /// Cancelling the task leaves the flight; the last one to leave cancels the fetch and the transform.
    public func response(for request: ImageRequest) async throws(PipelineError) -> ImageResponse {
        if let entry = cachedEntry(for: request.resultKey, at: clock()) { return ImageResponse(hit: entry) }
        let seat = renderings.join(request.resultKey, progress: ()) { (_) async throws(PipelineError) in
            try await self.produce(request)
        }
        var response = try await seat.output()
        response.isCollapsed = !seat.isLeader
        if response.isCollapsed { metrics.coalescedRequests.increment(.transform) }
        return response
    }

    /// Runs at most once at a time for a result.
    private func produce(_ request: ImageRequest) async throws(PipelineError) -> ImageResponse {
        // Look again: (1) A misses memory, (2) B, who flew before, stores and lands, (3) A finds no flight and starts
        // this one. Without this line A would make the result a second time.
        if let entry = cachedEntry(for: request.resultKey, at: clock()) { return ImageResponse(hit: entry) }
        let source = try await usableSource(for: request)
        if let stored = await storedResult(for: request, of: source) { return stored }
        let original = try await original(for: request, of: source)
        guard let plan = request.plan else { return await passThrough(original, for: request) }
        return try await render(original, by: plan, for: request)
    }

    /// What is known of the source now: fresh as it is, confirmed by the origin, or fetched.
    private func usableSource(for request: ImageRequest) async throws(PipelineError) -> Source {
        guard let record = await tiers.record(for: request) else {
            return try await fetch(request, validating: nil)
        }
        if record.isFresh(at: clock()) { return Source(record: record, provenance: .storedOriginal) }
        // Validators are worth sending only when a 304 would leave us something to serve.
        let isWorthValidating = tiers.mayHold(request)
        return try await fetch(request, validating: isWorthValidating ? record : nil)
    }

    /// The original's bytes: just fetched, or stored and still those of the record; else fetched now.
    private func original(for request: ImageRequest, of source: Source) async throws(PipelineError) -> Source
    {
        if source.body != nil { return source }
        if let found = await tiers.original(for: request, hash: source.record.contentHash) {
            return source.with(body: found.body)
        }
        return try await fetch(request, validating: nil)
    }

    /// The result as it lies in the disk tier, if it was made from the source's present content.
    private func storedResult(for request: ImageRequest, of source: Source) async -> ImageResponse? {
        guard let found = await tiers.result(for: request, hash: source.record.contentHash) else {
            return nil
        }
        var response = ImageResponse(
            description: found.description, record: source.record, body: found.body,
            provenance: source.provenance == .storedOriginal ? .disk : source.provenance)
        response.description.key = request.resultKey
        response.isStored = true
        response.timings.fetch = source.fetchTime
        // After a 304 the entry in memory has the new record already.
        response.entry = found.entry.flatMap { _ in tiers.memory.entry(for: request.resultKey) }
        await tiers.promote(&response)
        return response
    }
}

extension ImageResponse {
    /// A hit of the memory tier.
    init(hit entry: MemoryEntry) {
        self.init(
            description: entry.description, record: entry.record, body: .bytes(entry.body), entry: entry,
            provenance: .memory)
        isStored = true
    }
}
