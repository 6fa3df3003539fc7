// SPDX-License-Identifier: Apache-2.0

import HTTPServer
import TestSupport

@testable import Cache
@testable import Freshness
@testable import Answering
@testable import ImageProxyd
@testable import Imaging
@testable import Loading
@testable import Observability
@testable import Pipeline
@testable import Primitives
@testable import Rendering
@testable import Request
@testable import URLs

/// A proxy in this process with a real origin, loader, tiers and server, whose clocks only the test sets.
///
/// It answers `/img`, `/info` and `/srcset` on a unix socket.
final class ClockedProxy: Sendable {
    private final class Handler: RequestHandling {
        private let images: ImageHandler, information: ImageHandler, srcset: SrcsetHandler

        init(images: ImageHandler, information: ImageHandler, srcset: SrcsetHandler) {
            (self.images, self.information, self.srcset) = (images, information, srcset)
        }

        private func handler(of request: HTTPRequest) -> ImageHandler? {
            if request.target.hasPrefix("/info") { return information }
            return request.target.hasPrefix("/img") ? images : nil
        }

        func answersAtOnce(_ request: HTTPRequest, with response: inout HTTPResponse) -> Bool {
            handler(of: request)?.answersAtOnce(request, with: &response) ?? false
        }

        func answer(_ request: HTTPRequest) -> HTTPAnswer {
            handler(of: request)?.answer(request) ?? srcset.answer(request, isOperator: false)
        }

        func didFinish(_ exchange: HTTPExchange) {}
    }

    let origin: FakeOrigin
    let pipeline: ImagePipeline
    let parser: ImageRequestParser
    private let received: WallTime
    private let time: Observed<WallTime>
    private let folder: TemporaryDirectory
    private let server: HTTPServer

    /// - Parameter received: when the origin's responses are received, whatever the time is by then; their transfer takes none.
    init(received: WallTime, renderer: any ImageRendering = InProcessRenderer()) throws {
        let (folder, time, instant) = (try TemporaryDirectory(), Observed(received), ContinuousClock.now)
        let clock: @Sendable () -> WallTime = { time.value }
        (self.received, self.folder, self.time, origin) = (received, folder, time, try FakeOrigin())
        let (cache, failures) = (
            CacheConfiguration(), FailedURLs(configuration: FailedURLsConfiguration())
        )
        let memory = MemoryCache(configuration: cache.memory)
        var addresses = AddressConfiguration()
        addresses.allowedNetworks = ["127.0.0.0/8"]
        let parser = ImageRequestParser(
            limits: RenderLimits(), formats: FormatsConfiguration(), quality: QualityConfiguration(),
            policy: RequestPolicy(sources: .unrestricted))
        let pipeline = ImagePipeline(
            tiers: ImageTiers(
                memory: memory,
                disk: try DiskCache(directory: folder.path + "/cache", configuration: cache.disk),
                configuration: cache),
            loader: try CurlLoader(
                configuration: FetchConfiguration(), addresses: AddressPolicy(configuration: addresses),
                clocks: LoaderClocks(wall: { received }, monotonic: { instant })),
            renderer: renderer, failures: failures,
            freshness: FreshnessPolicy(configuration: FreshnessConfiguration()),
            configuration: ImagePipeline.Configuration(
                maxSourceBytes: 1 << 24, rasterPlan: parser.rasterPlan),
            metrics: Metrics(loops: 1, version: "test"), clock: clock)
        (self.pipeline, self.parser) = (pipeline, parser)
        let (loops, limit) = (LoopGuard(name: "test"), ClientLimit(RateLimitConfiguration()))
        let tracing = RequestTracing(tracer: nil)
        func images(_ route: Metric.Route) -> ImageHandler {
            ImageHandler(
                route: route, pipeline: pipeline, parser: parser, failures: failures,
                automatic: AutomaticFormats(FormatsConfiguration().auto), crossOrigin: .none,
                hints: ClientHints(areOn: false), placeholders: [:], loopGuard: loops, limit: limit,
                aliases: AliasTable(capacity: 64, share: MemoryShare(bytes: 1 << 20)),
                uploads: UploadBuffers(), cachesUploads: false,
                tracing: tracing, clock: clock, reportError: { _ in })
        }
        let srcset = SrcsetHandler(
            pipeline: pipeline, parser: parser, signatures: .none, key: nil, loopGuard: loops, limit: limit,
            crossOrigin: .none, tracing: tracing, clock: clock)
        var configuration = HTTPServer.Configuration()
        // A machine that is busy with other tests is slow, not wrong.
        (configuration.requestTimeout, configuration.writeTimeout) = (.seconds(600), .seconds(600))
        server = try HTTPServer(
            configuration: configuration,
            handler: Handler(images: images(.img), information: images(.info), srcset: srcset))
        _ = try server.listen(on: [.unix(path: folder.path + "/s.sock")])
        try server.start()
    }

    /// Sets the time to so many milliseconds after the origin's responses.
    func setTime(_ milliseconds: Int64) {
        time.update { $0 = WallTime(milliseconds: received.milliseconds + milliseconds) }
    }

    /// The answer of a route about a source of the origin.
    func get(_ path: String, of route: String = "/img") async throws -> RawHTTPClient.Answer {
        let (socket, target) = (folder.path + "/s.sock", "\(route)?url=\(origin.url(path))")
        return try await onThread {
            let client = try RawHTTPClient(unixSocket: socket)
            defer { client.hangUp() }
            try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
            return try client.answer()
        }
    }
}
