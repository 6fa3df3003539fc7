// SPDX-License-Identifier: Apache-2.0

import Cache
internal import HTTPServer
import Loading
import Observability
import Pipeline
import Primitives
import Rendering
import Sharing
import Tracing

/// Connects the metrics to the numbers of the modules, which are read at each scrape.
struct MetricSources {
    let components: Components
    let server: HTTPServer
    /// The listeners of operators.
    let operators: [HTTPServer]
    let accessLog: AccessLog
    /// The current pipeline; it includes the counts of those before it.
    let pipeline: @Sendable () -> ImagePipeline

    private var metrics: Metrics { components.metrics }
    private var memory: MemoryCache { components.memory }
    private var disk: DiskCache { components.disk }
    private var loader: CurlLoader { components.loader }
    private var workers: WorkerPool { components.workers }
    private var failures: FailedURLs { components.failures }

    func register() {
        registerServer()
        registerMemory()
        registerDisk()
        registerTiers()
        registerShared()
        registerFailures()
        registerWork()
    }

    private typealias Reading = MetricReading.Reading

    /// A series for each value of a label, with its count.
    private static func readings<Value: CaseIterable & Hashable>(
        _ counts: [Value: Int], of labels: String..., name: (Value) -> String
    ) -> [Reading] {
        Value.allCases.map { Reading(labels + [name($0)], counts[$0] ?? 0) }
    }

    private func registerServer() {
        metrics.httpConnections.observe { [server] in server.counts.connections }
        metrics.httpConnectionsLimit.observe { [server] in server.counts.maxConnections }
        metrics.httpConnectionsTotal.observe { [server] in server.counts.accepted }
        metrics.httpRejected.collect { [server, operators] in
            let counts = ([server] + operators).map(\.counts.rejected)
            return HTTPServer.RejectionReason.allCases.map { reason in
                Reading([snakeCased("\(reason)")], counts.reduce(0) { $0 + ($1[reason] ?? 0) })
            }
        }
        metrics.accessLogDropped.observe { [accessLog] in accessLog.dropped }
        metrics.traceSpans.collect { [components] in
            let counts = components.spans?.queue.counts ?? SpanQueue.Counts()
            return [
                Reading(["exported"], counts.exported), Reading(["dropped"], counts.dropped),
                Reading(["failed"], counts.failed),
            ]
        }
    }

    private func registerMemory() {
        metrics.cacheBytes.observe("memory", "result") { [memory] in memory.statistics.bytes }
        metrics.cacheHeldBytes.observe { [memory] in memory.statistics.heldBytes }
        metrics.cacheEntries.observe("memory", "result") { [memory] in memory.statistics.entries }
        metrics.cacheRequests.collect { [memory, pipeline] in
            let stale = pipeline().staleAnswers.value.memory
            let statistics = memory.statistics
            return [
                Reading(["memory", "result", "hit"], max(0, statistics.hits - stale)),
                Reading(["memory", "result", "stale"], stale),
                Reading(["memory", "result", "miss"], statistics.misses),
            ]
        }
        metrics.cacheEvictions.collect { [memory] in
            Self.readings(memory.statistics.evictions, of: "memory", name: \.rawValue)
        }
    }

    private func registerDisk() {
        metrics.cacheBytes.collect { [disk] in
            let tally = disk.statistics.tally
            return EntryKind.allCases.map { Reading(["disk", "\($0)"], Int(tally[$0].bytes)) }
        }
        metrics.cacheEntries.collect { [disk] in
            let tally = disk.statistics.tally
            return EntryKind.allCases.map { Reading(["disk", "\($0)"], tally[$0].entries) }
        }
        metrics.cacheRequests.collect { [disk, pipeline] in
            let stale = pipeline().staleAnswers.value.disk
            let statistics = disk.statistics
            return EntryKind.allCases.flatMap { kind in
                [
                    Reading(
                        ["disk", "\(kind)", "hit"], max(0, (statistics.hits[kind] ?? 0) - (stale[kind] ?? 0))),
                    Reading(["disk", "\(kind)", "stale"], stale[kind] ?? 0),
                    Reading(["disk", "\(kind)", "miss"], statistics.misses[kind] ?? 0),
                ]
            }
        }
        metrics.cacheEvictions.collect { [disk] in
            Self.readings(disk.statistics.evictions, of: "disk", name: \.rawValue)
        }
        metrics.cacheCorrupt.observe("disk") { [disk] in disk.statistics.corrupt }
        metrics.cacheWriteErrors.observe("disk") { [disk] in disk.statistics.writeErrors }
    }

    /// What the tiers store, and how much at most.
    private func registerTiers() {
        let policies = [("original", components.tiers.originals), ("result", components.tiers.results)]
        for (kind, policy) in policies {
            metrics.cacheEnabled.observe("memory", kind) { policy.usesMemory ? 1 : 0 }
            metrics.cacheEnabled.observe("disk", kind) { policy.usesDisk ? 1 : 0 }
        }
        metrics.cacheLimitBytes.observe("memory") { [memory] in memory.statistics.maxBytes }
        metrics.cacheLimitBytes.observe("disk") { [disk] in disk.statistics.maxBytes }
        metrics.cacheOverheadBytes.observe("disk") { [disk] in Int(disk.statistics.overheadBytes) }
    }

    /// What nodes share; nothing for a node of its own.
    private func registerShared() {
        guard let cluster = components.cluster else { return }
        metrics.clusterMessagesFailed.observe { cluster.peers?.failures ?? 0 }
        guard let tier = cluster.tier else { return }
        metrics.sharedRequests.collect {
            let requests = tier.statistics.requests
            return SharedStatistics.Operation.allCases.flatMap { operation in
                Self.readings(requests[operation] ?? [:], of: "\(operation)") { snakeCased("\($0)") }
            }
        }
        metrics.cacheRequests.collect {
            let statistics = tier.statistics
            return [EntryKind.original, .result].flatMap { kind in
                [
                    Reading(["shared", "\(kind)", "hit"], statistics.hits[kind] ?? 0),
                    Reading(["shared", "\(kind)", "miss"], statistics.misses[kind] ?? 0),
                ]
            }
        }
        metrics.sharedBytes.collect {
            let statistics = tier.statistics
            return [Reading(["in"], statistics.bytesIn), Reading(["out"], statistics.bytesOut)]
        }
        metrics.sharedQueueBytes.observe { tier.statistics.queueBytes }
        metrics.sharedQueueLimitBytes.observe { tier.statistics.queueLimit }
        metrics.sharedDropped.observe { tier.statistics.dropped }
        metrics.sharedBreakerOpen.observe { tier.statistics.isBreakerOpen ? 1 : 0 }
        metrics.sharedJournalAge.observe { Int(tier.statistics.journalAge) }
        metrics.sharedPurges.observe { tier.statistics.purges }
    }

    private func registerFailures() {
        metrics.failedURLs.collect { [failures] in
            Self.readings(failures.counts(at: SystemTime.coarseSeconds()), name: \.rawValue)
        }
        metrics.failedURLHits.collect { [failures] in
            Self.readings(failures.hits, name: \.rawValue)
        }
    }

    private func registerWork() {
        metrics.prefetchWaiting.observe { [prefetch = components.prefetch] in prefetch.waiting.images }
        metrics.prefetchQueueBytes.observe { [prefetch = components.prefetch] in prefetch.waiting.bytes }
        metrics.tasks.observe("fetch") { [pipeline] in pipeline().taskCounts.fetches }
        metrics.tasks.observe("transform") { [pipeline] in pipeline().taskCounts.images }
        metrics.fetchConnections.collect { [loader] in
            let statistics = loader.statistics
            return [
                Reading(["new"], statistics.newConnections),
                Reading(["reused"], statistics.reusedConnections),
                Reading(["tainted"], statistics.taintedConnections),
            ]
        }
        metrics.fetchKeys.collect { [loader] in
            let statistics = loader.statistics
            return [
                Reading(["ok"], statistics.keyRefreshes), Reading(["failed"], statistics.failedKeyRefreshes),
            ]
        }
        metrics.fetchesInProgress.observe { [loader] in loader.statistics.inflight }
        metrics.fetchesInProgressLimit.observe { [loader] in loader.statistics.maxInflight }
        metrics.fetchQueue.observe { [loader] in loader.statistics.queued }
        metrics.fetchQueueLimit.observe { [loader] in loader.statistics.maxQueued }
        registerWorkers()
    }

    private func registerWorkers() {
        metrics.transformQueue.observe { [workers] in workers.statistics.queueDepth }
        metrics.transformQueueLimit.observe { [workers] in workers.statistics.maxQueueDepth }
        metrics.transformMemory.observe { [workers] in workers.statistics.memoryInUse }
        metrics.transformMemoryLimit.collect { [workers] in
            let limit = workers.statistics.maxMemory
            return limit == .max ? [] : [Reading([], limit)]
        }
        let workerMemory = WorkerMemory()
        metrics.workerMemory.observe { [workers] in
            workerMemory.bytes(
                of: workers.statistics.processIdentifiers, at: SystemTime.coarseSeconds())
        }
        metrics.transformImprovementQueue.observe { [pipeline] in pipeline().improvementCount }
        metrics.workers.collect { [workers] in
            let statistics = workers.statistics
            return [
                Reading(["starting"], statistics.starting), Reading(["idle"], statistics.idle),
                Reading(["busy"], statistics.busy),
            ]
        }
        metrics.workerRestarts.collect { [workers] in
            Self.readings(workers.statistics.restarts, name: \.rawValue)
        }
    }
}
