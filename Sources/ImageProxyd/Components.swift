// SPDX-License-Identifier: Apache-2.0

import Answering
import Cache
import Freshness
internal import HTTPServer
import Imaging
import Loading
internal import Logging
import Observability
import Origins
import Pipeline
import Primitives
import Rendering
import Request
import Sharing
import URLs

/// What exists as long as the process, also through reloads: tiers, loader, workers, metrics and logs.
struct Components: Sendable {
    let logger: Logger
    let threshold: CurrentValue<Logger.Level>
    let metrics: Metrics
    let memory: MemoryCache
    let tiers: ImageTiers
    let disk: DiskCache
    let pressure: MemoryPressureController
    let loader: CurlLoader
    let files: FileLoader
    /// The sources that redirects may lead to.
    let sources: CurrentValue<SourcePolicy>
    let renderer: any ImageRendering
    let workers: WorkerPool
    let failures: FailedURLs
    /// Whether the daemon is shutting down: it is not ready from then on.
    let isDraining = CurrentValue(false)
    let events: EventStreams
    let recentWork: RecentWork
    let uploads = UploadBuffers()
    /// What sends traces; nil where none are sent.
    let spans: SpanExporter?
    let prefetch: PrefetchService
    /// What this node shares with others; nil for a node of its own.
    let cluster: Cluster?

    /// Creates the handlers of requests under these settings.
    /// - Parameter predecessor: those that they replace, if any.
    /// - Throws: what is wrong with the addresses to serve on or the patterns of sources.
    func routes(
        _ configuration: ProxyConfiguration, _ files: NamedFiles, succeeding predecessor: Routes? = nil
    ) throws -> Routes {
        let parser = try Self.parser(configuration, files)
        let pipeline = pipeline(configuration, parser, files.origins, succeeding: predecessor?.pipeline)
        // One limit for all routes, by client. A reload does not reset a client's count.
        let rate = configuration.security.rateLimit
        let limit =
            predecessor.flatMap { $0.limit.configuration == rate ? $0.limit : nil } ?? ClientLimit(rate)
        let status = StatusHandler(
            text: MetricsText(metrics),
            isReady: { [workers, isDraining] in
                !isDraining.value && (configuration.transform.isolation == .none || workers.isReady)
            })
        let targets = configuration.cache.memory.limits.maxTargets
        let aliases = AliasTable(
            capacity: targets,
            share: MemoryShare(of: memory, dividedBy: Self.imageShare, atLeast: Self.minImageBytes))
        let facts = AliasTable(
            capacity: targets / 8,
            share: MemoryShare(
                of: memory, dividedBy: Self.informationShare, atLeast: Self.minInformationBytes))
        let images = { (route: Metric.Route, dialectRoute: DialectRoute?) in
            imageHandler(
                route, dialectRoute, route == .img ? aliases : facts, configuration, files, parser, pipeline,
                limit
            )
        }
        let srcset = SrcsetHandler(
            pipeline: pipeline, parser: parser, signatures: files.signatures, key: files.firstKey,
            loopGuard: LoopGuard(name: configuration.fetch.via), limit: limit,
            crossOrigin: Self.crossOrigin(configuration), tracing: tracing,
            clock: SystemTime.coarse)
        let (own, information) = (images(.img, nil), images(.info, nil))
        let playground =
            configuration.playground ? PlaygroundHandler(configuration, files, isAdmin: false) : nil
        let handlers = ImageHandlers(
            images: own, information: information, dialects: files.dialects.map { images(.img, $0) },
            reserved: playground?.targets)
        return Routes(
            handlers: handlers, crossOrigin: Self.crossOrigin(configuration), status: status, srcset: srcset,
            showsMetrics: try Self.showsMetrics(configuration), playground: playground,
            admin: AdminRoutes(
                access: AdminAccess(token: files.adminToken),
                cache: CacheHandler(pipeline: pipeline, cluster: cluster, clock: SystemTime.coarse),
                explain: ExplainHandler(
                    handlers: handlers, pipeline: pipeline,
                    addresses: try AddressPolicy(configuration: configuration.security.addresses)),
                failed: FailedHandler(pipeline: pipeline), status: status, images: own,
                information: information, srcset: srcset,
                playground: PlaygroundHandler(configuration, files, isAdmin: true),
                sign: SignHandler(key: files.firstKey), events: events,
                stats: StatsTopic(metrics: metrics, work: recentWork),
                prefetch: PrefetchHandler(
                    service: prefetch, events: events,
                    maker: PrefetchMaker(
                        pipeline: pipeline, parser: parser,
                        automatic: AutomaticFormats(configuration.formats.auto),
                        isSigned: files.firstKey != nil),
                    serverLimit: configuration.http.server.limits.contentBytes)),
            cluster: cluster.map { ClusterHandler(cluster: $0, pipeline: pipeline, handlers: handlers) },
            pipeline: pipeline, limit: limit)
    }

    /// Applies new settings to the lasting parts, as far as possible: to all of them, or to none.
    /// - Throws: what is wrong with networks, source patterns or fields for origins.
    func adopt(_ configuration: ProxyConfiguration, _ files: NamedFiles) throws {
        let addresses = try AddressPolicy(configuration: configuration.security.addresses)
        let sources = try Self.sources(configuration, files)
        try loader.adopt(configuration.fetch, addresses: addresses)
        self.sources.replace(by: sources)
        self.files.adopt(maxBytes: configuration.fetch.maxBytes)
        failures.adopt(configuration.failedURLs)
        workers.adopt(configuration.transform)
        pressure.adopt(configuration.cache.memory)
        disk.adopt(configuration.cache.disk)
        prefetch.adopt(configuration.prefetch)
        threshold.replace(by: Logger.Level(configuration.log.level))
    }

    /// Which sources are allowed.
    static func sources(_ configuration: ProxyConfiguration, _ files: NamedFiles) throws -> SourcePolicy {
        try SourcePolicy(patterns: configuration.security.sources, buckets: files.origins.buckets)
    }

    private func pipeline(
        _ configuration: ProxyConfiguration, _ parser: ImageRequestParser, _ origins: OriginRules,
        succeeding predecessor: ImagePipeline?
    ) -> ImagePipeline {
        var rules = ImagePipeline.Configuration(
            maxSourceBytes: configuration.fetch.maxBytes.bytes,
            rasterPlan: parser.rasterPlan,
            origins: origins, intermediates: configuration.transform.intermediates,
            improve: configuration.transform.improve)
        rules.refreshesPerOrigin = configuration.fetch.maxPerHost
        rules.passesDrawings = configuration.formats.svgPassThrough
        let detail = configuration.log.url
        rules.refreshFailed = { [logger] source, error in
            let fields = AccessRecord.Miss(source, error, url: detail).fields
            let metadata = fields.map { ($0.name, Logger.MetadataValue.string("\($0.value)")) }
            logger.notice(
                "a refresh in the background failed", metadata: Dictionary(uniqueKeysWithValues: metadata))
        }
        return ImagePipeline(
            tiers: tiers, loader: RoutedLoader(http: loader, files: files), renderer: renderer,
            failures: failures, freshness: FreshnessPolicy(configuration: configuration.freshness),
            configuration: rules, metrics: metrics, succeeding: predecessor, clock: SystemTime.coarse)
    }

    private func imageHandler(
        _ route: Metric.Route, _ dialectRoute: DialectRoute?, _ aliases: AliasTable,
        _ configuration: ProxyConfiguration, _ files: NamedFiles,
        _ parser: ImageRequestParser, _ pipeline: ImagePipeline, _ limit: ClientLimit
    ) -> ImageHandler {
        ImageHandler(
            route: route, dialectRoute: dialectRoute, pipeline: pipeline, parser: parser, failures: failures,
            automatic: AutomaticFormats(configuration.formats.auto),
            crossOrigin: Self.crossOrigin(configuration),
            hints: ClientHints(areOn: configuration.http.clientHints), placeholders: files.placeholders,
            loopGuard: LoopGuard(name: configuration.fetch.via), limit: limit,
            aliases: aliases, uploads: uploads, cachesUploads: configuration.cache.uploads, tracing: tracing,
            clock: SystemTime.coarse,
            reportError: { [logger] in logger.error("\($0)") })
    }

    private var tracing: RequestTracing {
        RequestTracing(tracer: spans?.tracer, asksNodes: cluster?.homes != nil)
    }

    /// The share of `cache.memory.maxBytes` for targets of `/img` and their heads, which has a minimum: open
    /// files are answered by them, too.
    private static let imageShare = 8
    private static let minImageBytes = 16 << 20
    /// The share for those of `/info`.
    private static let informationShare = 64
    private static let minInformationBytes = 2 << 20

    private static func crossOrigin(_ configuration: ProxyConfiguration) -> CrossOriginPolicy {
        CrossOriginPolicy(
            cors: configuration.http.cors, timing: configuration.http.timingAllowOrigin,
            downstream: configuration.downstream)
    }

    /// What reads the parameters of `/img` under these settings.
    /// - Throws: what is wrong with the patterns of sources.
    static func parser(_ configuration: ProxyConfiguration, _ files: NamedFiles) throws -> ImageRequestParser
    {
        ImageRequestParser(
            limits: configuration.limits, formats: configuration.formats, quality: configuration.quality,
            policy: policy(configuration, files, try sources(configuration, files)),
            resizesInLinearLight: configuration.transform.linearLight)
    }

    private static func policy(
        _ configuration: ProxyConfiguration, _ files: NamedFiles, _ sources: SourcePolicy
    ) -> RequestPolicy {
        var policy = RequestPolicy(sources: sources)
        policy.origins = files.origins
        policy.buckets = files.origins.buckets
        policy.signatures = files.signatures
        for name in configuration.security.allowedOptions {
            if let option = ImageOptions(named: name) { policy.allowedOptions.insert(option) }
            if name == SecurityConfiguration.priority { policy.allowsHighPriority = true }
        }
        policy.allowsUnsignedTags = configuration.security.unsignedTags
        policy.allowsUploads = configuration.security.allowUploads
        policy.onlyPresets = configuration.security.onlyPresets
        policy.presets = configuration.presets
        policy.placeholders = Set(configuration.placeholders.keys)
        policy.watermarks = files.watermarks
        return policy
    }

    /// Whether the listener of clients answers `/metrics`: by default only if it is local, and metrics have no other address.
    private static func showsMetrics(_ configuration: ProxyConfiguration) throws -> Bool {
        switch configuration.metrics.public {
        case .always: return true
        case .never: return false
        case .auto: break
        }
        guard configuration.metrics.listen.isEmpty, configuration.admin.listen.allSatisfy({ $0 == "auto" })
        else { return false }
        return try configuration.listen.allSatisfy { try HTTPServer.Address(parsing: $0).isLocal }
    }
}
