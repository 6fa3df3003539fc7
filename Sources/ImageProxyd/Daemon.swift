// SPDX-License-Identifier: Apache-2.0

import Answering
internal import CLinux
import Cache
internal import Dispatch
internal import Glibc
internal import HTTPServer
import Imaging
import Loading
internal import Logging
import Observability
import Pipeline
import Primitives
import Rendering
import Tracing
import URLs

/// The composition root: creates every component in the order of its dependencies and releases them in the
/// opposite order.
struct Daemon {
    let configuration: ProxyConfiguration
    let logger: Logger
    private let service = ServiceManager()
    private let disk: DiskCache
    private let loader: CurlLoader
    private let workers: WorkerPool
    let server: HTTPServer
    let admin: HTTPServer
    let adminEndpoints: [AdminEndpoint]
    let adminSockets: AdminSockets
    /// Answers on `metrics.listen`; nil without an address.
    let metricsServer: HTTPServer?
    private let accessLog: AccessLog
    private let pressure: PressureWatch?
    private let components: Components
    private let currentRoutes: CurrentRoutes

    /// The maximum wait for exchanges in progress after SIGTERM; then connections are cut.
    private static let drainTime = Duration.seconds(30)

    /// The maximum wait for another daemon to release the cache folder: slightly longer than its drain.
    private static let lockTimeout = TimeSpan.seconds(35)

    /// Why the daemon refuses to start, in one sentence.
    struct StartError: Error, CustomStringConvertible {
        let description: String
    }

    /// Serves until SIGTERM or SIGINT, then drains and returns; a SIGHUP reloads the settings from `source`.
    /// - Throws: what prevented the start.
    static func run(
        configuration: ProxyConfiguration, files: NamedFiles, source: SettingsSource
    ) async throws {
        let workers = WorkerPool(configuration: configuration.transform, executable: "/proc/self/exe")
        // What takes longest begins first.
        let start = Task { try await Self.startFirst(of: workers, configuration.transform) }
        let daemon = try Daemon(configuration: configuration, files: files, workers: workers)
        try await daemon.serve(source, once: start)
    }

    /// Starts one worker; the others follow.
    private static func startFirst(
        of workers: WorkerPool, _ configuration: TransformConfiguration
    ) async throws {
        guard configuration.isolation == .process else { return }
        do throws(RenderError) {
            try await workers.startFirst()
        } catch {
            guard case .unavailable(let reason) = error else { throw error }
            throw StartError(
                description: "no worker can be started (transform.sandbox is "
                    + "\(configuration.sandbox.rawValue)): \(reason)")
        }
    }

    private static func openLog(_ configuration: LogConfiguration) throws(StartError) -> LogOutput {
        do throws(LogSink.Failure) {
            return try LogOutput(configuration, environment: HostProcess.environment)
        } catch {
            throw StartError(description: "log.format: \(LogOutput.problem(error))")
        }
    }

    private init(configuration: ProxyConfiguration, files: NamedFiles, workers: WorkerPool) throws {
        self.configuration = configuration
        let output = try Self.openLog(configuration.log)
        logger = Logger(label: "imageproxyd") { output.handler(label: $0) }
        Self.logIgnoredVariables(logger)
        let loops = configuration.http.loopCount
        let descriptors = HostProcess.prepareToServe()
        guard descriptors >= Self.fewestDescriptors else {
            throw StartError(
                description: "at most \(descriptors) files may be open (RLIMIT_NOFILE, LimitNOFILE=), "
                    + "at least \(Self.fewestDescriptors) are needed")
        }
        let budget = DescriptorBudget(
            all: descriptors, loops: loops, workers: configuration.transform.workerCount)
        let maxConnections = Self.connections(configuration, logger, budget)
        let allLoops = loops + Self.operatorLoops
        let metrics = Metrics(loops: allLoops, version: Version.current)
        accessLog = try AccessLog(configuration: output.configuration, buffers: allLoops, sink: output.sink)
        if !configuration.fetch.proxy.isEmpty {
            logger.warning("fetch.proxy decides which addresses are connected to; they are not checked here")
        }
        let sources = CurrentValue(try Components.sources(configuration, files))
        let memory = MemoryCache(configuration: configuration.cache.memory)
        let adminSockets = AdminSockets()
        self.adminSockets = adminSockets
        let cacheDirectory = CacheDirectory.path(configured: configuration.cache.disk.directory)
        disk = try Self.openDisk(
            cacheDirectory, configuration.cache.disk,
            MemoryShare(of: memory, dividedBy: Self.textShare, atLeast: Self.minTextBytes), adminSockets,
            logger)
        loader = try CurlLoader(
            configuration: configuration.fetch,
            addresses: AddressPolicy(configuration: configuration.security.addresses),
            redirectPolicy: { sources.value.allows($0) })
        self.workers = workers
        let renderer = Self.renderer(configuration.transform, workers)
        let pressureController = MemoryPressureController(memory: memory, logger: logger)
        pressure = pressureController.watch(environment: HostProcess.environment)
        let failures = FailedURLs(
            configuration: configuration.failedURLs,
            share: MemoryShare(of: memory, dividedBy: Self.textShare, atLeast: Self.minTextBytes))
        let cluster = try Cluster(
            configuration, files, cacheDirectory: cacheDirectory, metrics: metrics, logger: logger)
        let tiers = ImageTiers(
            memory: memory, disk: disk, configuration: configuration.cache, shared: cluster?.tier,
            homes: cluster?.homes)
        let share = DescriptorShare(
            budget: budget, wanted: configuration.cache.disk.openFiles,
            bodies: tiers.bodyFiles,
            keepFiles: { tiers.keepFiles(atMost: $0) }, closeFiles: { tiers.closeFiles($0) })
        components = Components(
            logger: logger, threshold: output.threshold, metrics: metrics, memory: memory,
            tiers: tiers, disk: disk, pressure: pressureController, loader: loader,
            files: FileLoader(maxBytes: configuration.fetch.maxBytes), sources: sources, renderer: renderer,
            workers: workers, failures: failures,
            events: EventStreams(clock: ContinuousClock()), recentWork: RecentWork(),
            spans: TracingConfiguration(environment: HostProcess.environment)
                .flatMap { [logger] in SpanExporter($0, logger: logger) },
            prefetch: PrefetchService(
                configuration: configuration.prefetch,
                path: cacheDirectory + "/prefetch.json", workers: configuration.transform.workerCount,
                metrics: metrics, logger: logger),
            cluster: cluster)
        let accounting = Accounting(metrics: metrics, log: accessLog, recentWork: components.recentWork)
        let currentRoutes = CurrentRoutes(try components.routes(configuration, files), accounting)
        self.currentRoutes = currentRoutes
        components.prefetch.begin { currentRoutes.value.admin.prefetch.maker }
        var http = configuration.http.serverConfiguration
        http.maxConnections = maxConnections
        http.reservedConnections = budget.vital
        http.connectionsChanged = { share.connectionsChanged(by: $0) }
        http.freeDescriptors = { share.freeDescriptors() }
        server = try HTTPServer(
            configuration: http, handler: currentRoutes)
        adminEndpoints = try AdminEndpoint.endpoints(
            configuration.admin.listen, cacheDirectory: cacheDirectory)
        var adminHTTP = Self.operatorConfiguration(firstLoop: loops)
        adminHTTP.limits.contentBytes = http.limits.contentBytes
        admin = try HTTPServer(
            configuration: adminHTTP,
            handler: AdminHandler(currentRoutes: currentRoutes, accounting: accounting))
        metricsServer =
            configuration.metrics.listen.isEmpty
            ? nil
            : try HTTPServer(
                configuration: Self.operatorConfiguration(firstLoop: loops + 1),
                handler: MetricsHandler(currentRoutes: currentRoutes, accounting: accounting))
        MetricSources(
            components: components, server: server, operators: [admin] + (metricsServer.map { [$0] } ?? []),
            accessLog: accessLog,
            pipeline: { currentRoutes.value.pipeline }
        ).register()
    }

    /// The loops of the admin listener and of `metrics.listen`.
    private static let operatorLoops = 2

    private static func operatorConfiguration(firstLoop: Int) -> HTTPServer.Configuration {
        var configuration = HTTPServer.Configuration()
        configuration.maxConnections = adminConnections
        configuration.reservedConnections = adminReserve
        configuration.firstLoop = firstLoop
        configuration.drainGrace = adminDrainGrace
        return configuration
    }

    private static func logIgnoredVariables(_ logger: Logger) {
        let names = ConfigurationLoader.ignoredVariables(in: HostProcess.environment)
        guard !names.isEmpty else { return }
        let shown = names.prefix(maxNamesShown) + (names.count > maxNamesShown ? ["…"] : [])
        logger.notice(
            """
            \(names.count) variables are ignored: they have the form that Kubernetes gives those of a Service \
            (\(shown.joined(separator: ", ")))
            """)
    }

    /// The maximum number of names in one line of the log.
    private static let maxNamesShown = 8

    /// Computes pixels.
    private static func renderer(
        _ configuration: TransformConfiguration, _ workers: WorkerPool
    ) -> any ImageRendering {
        configuration.isolation == .none ? InProcessRenderer(configuration: configuration) : workers
    }

    /// The maximum number of connections of operators and their scrapers.
    private static let adminConnections = 64
    /// The number of these connections, and of descriptors, in reserve.
    private static let adminReserve = 4
    /// How long an operator's idle connection may still send a request once clients have been served: a
    /// scraper's connection persists.
    private static let adminDrainGrace = Duration.milliseconds(250)

    /// Opens the disk tier; logs a message if another daemon must release it first.
    private static func openDisk(
        _ directory: String, _ configuration: DiskCacheConfiguration, _ records: MemoryShare,
        _ admin: AdminSockets, _ logger: Logger
    ) throws -> DiskCache {
        let report: @Sendable (DiskEvent) -> Void = { event in
            logger.log(level: event.isAlarm ? .warning : .notice, "\(event)")
            guard case .folderReplaced = event else { return }
            for path in admin.removed {
                logger.warning(
                    "the admin socket \(path) was removed: a restart creates it, and admin.listen can name another place"
                )
            }
        }
        do throws(DiskCacheError) {
            do throws(DiskCacheError) {
                return try DiskCache(
                    directory: directory, configuration: configuration, recordShare: records,
                    report: report)
            } catch .locked {
                logger.notice(
                    """
                    another daemon uses \(directory); waiting up to \(lockTimeout) for its end; to run beside it, \
                    this one needs its own cache.disk.directory and listen
                    """)
                return try DiskCache(
                    directory: directory, configuration: configuration, lockTimeout: lockTimeout,
                    recordShare: records, report: report)
            }
        } catch .readOnlyFolder(let folder, because: let reason) {
            throw StartError(description: "cache.disk.readOnlyPaths \(folder): \(reason)")
        } catch {
            var advice = ""
            if case .system(_, let code) = error, [EACCES, EPERM, EROFS].contains(code) {
                advice = "; make it writable, or name another: IMAGEPROXYD_CACHE_DISK_DIRECTORY=/path"
            }
            throw StartError(description: "cache.disk.directory \(directory): \(error)\(advice)")
        }
    }

    /// The share of `cache.memory.maxBytes` that source records in memory may take, and remembered failures
    /// likewise; both have a minimum.
    private static let textShare = 16
    private static let minTextBytes = 4 << 20

    /// Fewer are not enough to start and to answer a request.
    private static let fewestDescriptors = 96

    /// As many connections as configured, or as there are descriptors for.
    private static func connections(
        _ configuration: ProxyConfiguration, _ logger: Logger, _ budget: DescriptorBudget
    ) -> Int {
        let wanted = configuration.http.server.maxConnections
        let possible = budget.connections
        guard possible < wanted else { return wanted }
        logger.warning("http.maxConnections is \(wanted), but there are descriptors for \(possible) only")
        return possible
    }

    private func serve(_ source: SettingsSource, once workersStart: Task<Void, any Error>) async throws {
        // Before the daemon reports that it is ready.
        let termination = await TerminationSignal()
        let reloader = Reloader(
            components: components, currentRoutes: currentRoutes, configuration: configuration,
            source: source, service: service, loopsHaveTurned: { [server] in await server.ping() })
        let hangUps = await HangUpSignal { reloader.reload() }
        defer { hangUps.cancel() }
        try await workersStart.value
        logSandbox()
        // Before anything is served that other nodes may have purged.
        await components.cluster?.start(
            isEmpty: disk.statistics.isComplete && disk.statistics.tally.entries == 0
        ) {
            [currentRoutes] in currentRoutes.value.pipeline
        }
        try startServer(source.sockets.serving)
        try startAdmin(source.sockets.admin)
        try startMetrics(source.sockets.metrics)
        components.spans?.start()
        service.report(.ready(status: "serving"), to: logger)
        linux_unmap_clean_pages()
        let watchdog = watchdog.map { watchdog in Task { await watchdog.run() } }
        // From now on, so that "reloading" is never reported before "ready".
        hangUps.begin()
        let signal = await termination.first()
        // systemd stops watching when the daemon reports that it ends.
        watchdog?.cancel()
        hangUps.cancel()
        components.isDraining.replace(by: true)
        logger.notice("\(signal): finishing the requests in progress")
        service.report(.stopping, to: logger)
        service.report(.needsTime(Self.drainTime * 2), to: logger)
        await shutDown()
    }

    private func logSandbox() {
        guard configuration.transform.isolation == .process else {
            logger.warning(
                "transform.isolation is none: a hostile picture can crash or compromise the daemon")
            return
        }
        guard let sandbox = workers.sandbox else { return }
        if sandbox.isComplete {
            logger.info("workers are \(sandbox)")
        } else {
            logger.warning("workers are only \(sandbox)")
        }
    }

    /// Lets systemd end the daemon when it stalls; nil without WatchdogSec=.
    private var watchdog: Watchdog<ContinuousClock>? {
        guard let interval = service.watchdogInterval else { return nil }
        var parts = (0..<server.loopCount).map { [server] index in
            Watchdog<ContinuousClock>.Part(name: "event loop \(index)") { await server.ping(loop: index) }
        }
        parts += [
            Watchdog<ContinuousClock>.Part(name: "admin listener") { [admin] in await admin.ping() },
            // The fetch thread answers until it is stopped.
            Watchdog<ContinuousClock>.Part(name: "fetch thread") { [loader] in _ = await loader.ping() },
            Watchdog<ContinuousClock>.Part(name: "disk writer") { [disk] in await disk.ping() },
            Watchdog<ContinuousClock>.Part(name: "supervisor of workers") { [workers] in
                await workers.ping()
            },
        ]
        if let metricsServer {
            parts.append(.init(name: "metrics listener") { await metricsServer.ping() })
        }
        return Watchdog(
            interval: interval, parts: parts, clock: ContinuousClock(),
            notify: { [service, logger] in service.report(.alive, to: logger) },
            reportError: { [logger] names in
                logger.error("no answer for half of WatchdogSec: \(names.joined(separator: ", "))")
            })
    }

    private func shutDown() async {
        // First: what no client waits for must not delay those who do.
        await components.prefetch.stop()
        await server.drain(within: Self.drainTime)
        components.events.close()
        await admin.drain(within: Self.drainTime)
        await metricsServer?.drain(within: Self.drainTime)
        await components.cluster?.stop()
        await loader.stop()
        await workers.stop()
        await disk.close()
        components.spans?.stop()
        accessLog.close()
    }
}
