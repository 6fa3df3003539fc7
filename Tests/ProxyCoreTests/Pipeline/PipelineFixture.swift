// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import Bodies
@testable import Cache
@testable import Freshness
@testable import Imaging
@testable import Loading
@testable import Observability
@testable import Origins
@testable import Pipeline
@testable import Primitives
@testable import Rendering
@testable import Request
@testable import Sharing
@testable import URLs

/// A clock that only the test advances: the loader uses its start, the pipeline its time.
final class ShiftedClock: Sendable {
    /// Seconds since 1970.
    let start = SystemTime.seconds()
    private let shift = Atomic<Int64>(0)

    var now: WallTime { WallTime(seconds: start + shift.load(ordering: .relaxed)) }

    func advance(by seconds: Int64) {
        shift.add(seconds, ordering: .relaxed)
    }
}

/// A whole pipeline with a real loader, real tiers and a real origin, whose clock only the test advances.
final class PipelineFixture: Sendable {
    let origin: FakeOrigin
    let pipeline: ImagePipeline
    let failures: FailedURLs
    let metrics = Metrics(loops: 1, version: "test")
    let clock = ShiftedClock()
    /// By which fetches take too long.
    private let time = ManualTime()
    private let loader: CurlLoader
    let folder: TemporaryDirectory

    init(
        freshness: FreshnessConfiguration = FreshnessConfiguration(),
        failedURLs: FailedURLsConfiguration = FailedURLsConfiguration(),
        intermediates: IntermediateConfiguration = IntermediateConfiguration(),
        improve: ImproveConfiguration = ImproveConfiguration(),
        renderer: any ImageRendering = InProcessRenderer(), tagLinks: Int = 1_000,
        results: CacheConfiguration.StorePolicy = .all, homes: ClusterHomes? = nil
    ) throws {
        origin = try FakeOrigin()
        folder = try TemporaryDirectory()
        var cache = CacheConfiguration()
        cache.memory.maxBytes = .mebibytes(64)
        cache.disk.limits.maxTagLinks = tagLinks
        cache.results = results
        let disk = try DiskCache(directory: folder.path, configuration: cache.disk, lockTimeout: .seconds(1))
        var addresses = AddressConfiguration()
        addresses.allowedNetworks = ["127.0.0.0/8"]
        var fetch = FetchConfiguration()
        fetch.retries = 0
        // A machine that is busy with other tests is slow, not wrong.
        fetch.queueTimeout = .minutes(5)
        fetch.connectTimeout = .minutes(5)
        fetch.firstByteTimeout = .minutes(4)
        fetch.totalTimeout = .minutes(5)
        fetch.lowSpeedTime = .minutes(5)
        loader = try CurlLoader(
            configuration: fetch, addresses: AddressPolicy(configuration: addresses),
            clocks: LoaderClocks(
                wall: { [clock] in WallTime(seconds: clock.start) }, monotonic: { [time] in time.now }))
        failures = FailedURLs(configuration: failedURLs)
        var rasterPlan = RenderPlan(format: .source)
        rasterPlan.decodableFormats = ImageFormat.allCases
        pipeline = ImagePipeline(
            tiers: ImageTiers(
                memory: MemoryCache(configuration: cache.memory), disk: disk, configuration: cache,
                homes: homes),
            loader: loader,
            renderer: renderer, failures: failures,
            freshness: FreshnessPolicy(configuration: freshness),
            configuration: ImagePipeline.Configuration(
                maxSourceBytes: 1 << 24, rasterPlan: rasterPlan,
                intermediates: intermediates, improve: improve),
            metrics: metrics, clock: { [clock] in clock.now })
    }

    /// A request for a path of the origin, by default untransformed.
    func request(
        _ path: String, _ parameters: String = "", accept: String = "", rules: OriginRules = .none,
        formats: FormatsConfiguration = FormatsConfiguration()
    ) throws -> ImageRequest {
        try request(
            absolute: origin.url(path), parameters, accept: accept, rules: rules, formats: formats)
    }

    /// A request for any source.
    func request(
        absolute url: String, _ parameters: String = "", accept: String = "", rules: OriginRules = .none,
        formats: FormatsConfiguration = FormatsConfiguration()
    ) throws -> ImageRequest {
        var policy = RequestPolicy(sources: .unrestricted)
        policy.origins = rules
        policy.allowsUnsignedTags = true
        let parser = ImageRequestParser(
            limits: RenderLimits(), formats: formats, quality: QualityConfiguration(),
            policy: policy)
        let query = "url=" + url.replacing("?", with: "%3F") + (parameters.isEmpty ? "" : "&" + parameters)
        let automatic = AutomaticFormats(formats.auto)
        return try parser.parse(query: Array(query.utf8)) {
            Array(accept.utf8).withUnsafeBytes { AcceptClass(accept: $0, candidates: automatic) }
        }
    }

    /// Requests a path, as a client with this `Cache-Control` does.
    func get(
        _ path: String, _ parameters: String = "", asking control: String? = nil,
        context: FetchContext = .none
    ) async throws
        -> ImageResponse
    {
        let directives = RequestDirectives(cacheControl: control.map { [$0] } ?? [], pragma: [])
        return try await pipeline.response(
            for: request(path, parameters), directives: directives, context: context)
    }

    /// Requests a path with these directives.
    func get(
        _ path: String, _ parameters: String = "", _ change: (inout RequestDirectives) -> Void
    ) async throws -> ImageResponse {
        var directives = RequestDirectives()
        change(&directives)
        return try await pipeline.response(for: request(path, parameters), directives: directives)
    }

    /// Has a request that the origin has received, and does not answer, time out.
    func timeOut(_ path: String, count: Int = 1) async {
        await origin.waitForRequests(path, count: count)
        time.advance(by: .seconds(240))
        // Wakes the loader's thread.
        #expect(await loader.ping())
    }

    /// Empties the memory tier, so that the disk alone answers.
    func forgetMemory() {
        pipeline.tiers.memory.removeAll()
        pipeline.tiers.openFiles.removeAll()
    }

    /// Waits until no refresh is in progress.
    func refreshed() async {
        while pipeline.refreshes.withLock({ $0.count }) > 0 { await Task.yield() }
    }
}

extension ImagePipeline {
    /// The whole image.
    func response(
        for request: ImageRequest, directives: RequestDirectives = .none, context: FetchContext = .none
    ) async throws(PipelineError) -> ImageResponse {
        switch try await answer(for: request, directives: directives, context: context, streaming: .none) {
        case .whole(let response): return response
        case .streaming: throw .internalFailure("an image is streamed to a client that can't receive it")
        }
    }
}

extension ImageResponse {
    /// The bytes, in memory or in a file.
    var bytes: [UInt8] {
        get throws {
            switch body {
            case .bytes(let bytes): bytes
            case .file(let file, let offset, let length):
                try file.readAll(from: offset, count: Int(length))
            }
        }
    }
}

/// A renderer whose first job waits at a gate; all others run at once.
final class GatedRenderer: ImageRendering {
    let gate = Gate()
    private let hasBegun = Atomic(false)
    private let renderer = InProcessRenderer()

    func render(
        _ plan: RenderPlan, from source: StoredBody, into destination: OwnedDescriptor, at offset: Int64,
        intermediateTarget: FilePlace?, for interest: Waiters
    ) async throws(RenderError) -> Rendition {
        if !hasBegun.exchange(true, ordering: .relaxed) { await gate.passage() }
        return try await renderer.render(
            plan, from: source, into: destination, at: offset, intermediateTarget: intermediateTarget,
            for: interest)
    }
}

extension DiskCache {
    /// Has the writer do a whole sweep, and all other housekeeping, before the next job; returns how many entries were removed.
    @discardableResult
    func sweep() async throws(DiskCacheError) -> Int {
        try await writer.perform { (writer, batch) in
            writer.flush(&batch)
            (writer.sweep, writer.mustSweep) = ([], true)
            writer.scan.retry()
            let before = writer.storage.counters.withLock(\.evictions).values.reduce(0, +)
            while writer.doHousekeepingInPauses() {}
            return writer.storage.counters.withLock(\.evictions).values.reduce(-before, +)
        }
    }
}
