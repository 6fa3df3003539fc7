// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
internal import ProxyCore

/// Tells the metrics where the numbers of the rooms are read when somebody scrapes.
struct Readings {
    let metrics: Metrics
    let server: HTTPServer
    let memory: MemoryCache
    let disk: DiskCache
    let loader: CurlLoader
    let workers: WorkerPool
    let pipeline: ImagePipeline
    let failures: FailureMemory

    func register() {
        registerServer()
        registerCaches()
        registerWork()
    }

    private func registerServer() {
        metrics.httpConnections.observe { [server] in server.counts.connections }
        metrics.httpConnectionsTotal.observe { [server] in server.counts.accepted }
        metrics.httpRejected.collect { [server] in
            let rejected = server.counts.rejected
            return HTTPServer.RejectionReason.allCases.map {
                MetricReading.Reading(["\($0)"], rejected[$0] ?? 0)
            }
        }
    }

    private func registerCaches() {
        metrics.cacheBytes.observe("memory", "result") { [memory] in memory.statistics.bytes }
        metrics.cacheEntries.observe("memory", "result") { [memory] in memory.statistics.entries }
        metrics.cacheCorrupt.observe("disk") { [disk] in disk.statistics.corrupt }
        metrics.cacheWriteErrors.observe("disk") { [disk] in disk.statistics.writeErrors }
        metrics.failedURLs.collect { [failures] in
            let counts = failures.counts(at: Clock.now()).remembered
            return FailureClass.allCases.map { MetricReading.Reading([$0.rawValue], counts[$0] ?? 0) }
        }
    }

    private func registerWork() {
        metrics.flights.observe("fetch") { [pipeline] in pipeline.flightCounts.fetches }
        metrics.flights.observe("transform") { [pipeline] in pipeline.flightCounts.renderings }
        metrics.fetchesInFlight.observe { [loader] in loader.statistics.inflight }
        metrics.fetchQueue.observe { [loader] in loader.statistics.queued }
    }
}
