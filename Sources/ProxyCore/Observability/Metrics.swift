// SPDX-License-Identifier: Apache-2.0

/// The metrics of the daemon, in the order in which they are printed.
///
/// To add one: a property with its labels, and its row in `init`. Counters and histograms are incremented from
/// any thread, on the hit path too: `metrics.httpRequests.increment(.img, 200, on: .loop(0))`. Readings are
/// registered at start: `metrics.cacheBytes.observe("memory", "result") { … }`. No URL, host, query or header
/// value is ever a label.
package final class Metrics: Sendable {
    package let httpRequests: MetricCounter<LabelPair<Metric.Route, Metric.Status>>
    package let httpRequestDuration: MetricHistogram<LabelPair<Metric.Route, Metric.Cache>>
    package let httpFailures: MetricCounter<LabelPair<Metric.Route, Metric.FailureCause>>
    package let httpConnections: MetricReading
    package let httpConnectionsLimit: MetricReading
    package let httpConnectionsTotal: MetricReading
    package let httpRejected: MetricReading
    package let httpResponseBytes: MetricCounter<Metric.Route>

    package let cacheRequests: MetricReading
    package let cacheEnabled: MetricReading
    package let cacheBytes: MetricReading
    package let cacheOverheadBytes: MetricReading
    package let cacheLimitBytes: MetricReading
    package let cacheHeldBytes: MetricReading
    package let cacheEntries: MetricReading
    package let cacheEvictions: MetricReading
    package let cacheCorrupt: MetricReading
    package let cacheWriteErrors: MetricReading

    package let sharedRequests: MetricReading
    package let sharedDuration: MetricHistogram<Metric.SharedOperation>
    package let sharedBytes: MetricReading
    package let sharedQueueBytes: MetricReading
    package let sharedQueueLimitBytes: MetricReading
    package let sharedDropped: MetricReading
    package let sharedBreakerOpen: MetricReading
    package let sharedJournalAge: MetricReading
    package let sharedPurges: MetricReading
    package let clusterMessagesFailed: MetricReading

    package let coalescedRequests: MetricCounter<Metric.SharedTask>
    package let tasks: MetricReading
    package let failedURLs: MetricReading
    package let failedURLHits: MetricReading
    package let hostBreakersOpen: MetricReading

    package let fetches: MetricCounter<Metric.Fetch>
    package let fetchDuration: MetricHistogram<Metric.Fetch>
    package let fetchPhase: MetricHistogram<Metric.Phase>
    package let fetchBytes: MetricCounter<NoLabels>
    package let fetchConnections: MetricReading
    package let fetchKeys: MetricReading
    package let fetchesInProgress: MetricReading
    package let fetchesInProgressLimit: MetricReading
    package let fetchQueue: MetricReading
    package let fetchQueueLimit: MetricReading

    package let transforms: MetricCounter<LabelPair<Metric.Format, Metric.Transform>>
    package let transformDuration: MetricHistogram<Metric.Format>
    package let transformQueue: MetricReading
    package let transformQueueLimit: MetricReading
    package let transformMemory: MetricReading
    package let transformMemoryLimit: MetricReading
    package let transformQueueDuration: MetricHistogram<NoLabels>
    package let transformCheapest: MetricCounter<NoLabels>
    package let transformImprovements: MetricCounter<Metric.Improvement>
    package let transformImprovementQueue: MetricReading
    package let workers: MetricReading
    package let workerRestarts: MetricReading
    package let workerMemory: MetricReading

    package let reloads: MetricCounter<Metric.Reload>
    package let lastReloadSuccessful: MetricReading
    package let prefetches: MetricCounter<Metric.Prefetch>
    package let prefetchBytes: MetricCounter<NoLabels>
    package let prefetchWaiting: MetricReading
    package let prefetchQueueBytes: MetricReading

    package let accessLogDropped: MetricReading
    package let traceSpans: MetricReading
    package let buildInfo: MetricReading

    /// Every family except those of the process, in the order in which they are printed.
    package let families: [any MetricFamily]

    /// Allocates the counters, with a share for each of `loops` event loops in addition to the common one.
    package init(loops: Int, version: String) {
        var make = MetricFactory(shards: loops + 1)
        httpRequests = make.counter("http_requests_total", "Requests answered, by route and status.")
        httpRequestDuration = make.histogram(
            "http_request_duration_seconds", "Time from a request's head to the last byte of its answer.",
            buckets: .requests)
        httpFailures = make.counter(
            "http_failures_total",
            "Requests that failed: answers of 400 and more, and answers that broke off, by where the fault lies."
        )
        httpConnections = make.gauge("http_connections", "Client connections open.")
        httpConnectionsLimit = make.gauge(
            "http_connections_limit",
            "Most client connections at once: http.maxConnections, or fewer for lack of descriptors.")
        httpConnectionsTotal = make.readCounter("http_connections_total", "Client connections accepted.")
        httpRejected = make.readCounter(
            "http_rejected_total", "Connections and requests refused or cut by the server.",
            labels: ["reason"])
        httpResponseBytes = make.counter("http_response_bytes_total", "Bytes of bodies sent to clients.")
        cacheRequests = make.readCounter(
            "cache_requests_total", "Cache look-ups, by tier, kind and outcome.",
            labels: ["tier", "kind", "outcome"])
        cacheEnabled = make.gauge(
            "cache_enabled", "Whether a tier stores entries of a kind: 1 or 0.", labels: ["tier", "kind"])
        cacheBytes = make.gauge("cache_bytes", "Bytes stored.", labels: ["tier", "kind"])
        cacheOverheadBytes = make.gauge(
            "cache_overhead_bytes", "Bytes that index, journal and folders take beside the entries.",
            labels: ["tier"])
        cacheLimitBytes = make.gauge(
            "cache_limit_bytes",
            "Most bytes that a tier takes; less than cache.memory.maxBytes while the machine lacks memory.",
            labels: ["tier"])
        cacheHeldBytes = make.gauge(
            "cache_held_bytes", "Bytes of pictures in memory, in the tier or in answers that are being sent.")
        cacheEntries = make.gauge("cache_entries", "Entries stored.", labels: ["tier", "kind"])
        cacheEvictions = make.readCounter(
            "cache_evictions_total", "Entries evicted.", labels: ["tier", "reason"])
        cacheCorrupt = make.readCounter(
            "cache_corrupt_total", "Entries found damaged and removed.", labels: ["tier"])
        cacheWriteErrors = make.readCounter(
            "cache_write_errors_total", "Entries that could not be stored.", labels: ["tier"])
        sharedRequests = make.readCounter(
            "shared_requests_total", "Exchanges with the object store of the shared tier, by outcome.",
            labels: ["operation", "outcome"])
        sharedDuration = make.histogram(
            "shared_duration_seconds", "Time of exchanges with the object store.", buckets: .work)
        sharedBytes = make.readCounter(
            "shared_bytes_total", "Bytes of objects, in from the store and out to it.", labels: ["direction"])
        sharedQueueBytes = make.gauge(
            "shared_queue_bytes", "Bytes of the names of pictures that wait to be uploaded.")
        sharedQueueLimitBytes = make.gauge(
            "shared_queue_limit_bytes", "Most bytes of the names of pictures that wait: shared.queueBytes.")
        sharedDropped = make.readCounter(
            "shared_dropped_total", "Pictures that were not uploaded because too many waited.")
        sharedBreakerOpen = make.gauge(
            "shared_breaker_open", "Whether the object store gets no requests for a while: 1 or 0.")
        sharedJournalAge = make.gauge(
            "shared_journal_age_seconds",
            "Time since the journal of purges was read; after 60 s the shared tier is not used.")
        sharedPurges = make.gauge("shared_purges", "Purges of all nodes that are remembered.")
        clusterMessagesFailed = make.readCounter(
            "cluster_messages_failed_total", "Purges that did not reach another node at once.")
        coalescedRequests = make.counter(
            "coalesced_requests_total", "Requests that joined another request's fetch or transform.")
        tasks = make.gauge(
            "tasks", "Fetches and transforms that requests wait for, queued ones included.", labels: ["task"])
        failedURLs = make.gauge("failed_urls", "Failed URLs remembered.", labels: ["class"])
        failedURLHits = make.readCounter(
            "failed_url_hits_total", "Requests answered from the memory of failed URLs.", labels: ["class"])
        hostBreakersOpen = make.gauge(
            "host_breakers_open",
            "Origins that get no requests for a while: they could not be reached, or answered 429 with Retry-After."
        )
        fetches = make.counter("fetch_total", "Fetches from origins, by outcome.")
        fetchDuration = make.histogram(
            "fetch_duration_seconds", "Time of whole fetches, redirects included.", buckets: .work)
        fetchPhase = make.histogram(
            "fetch_phase_seconds", "Time of the phases of a fetch's last hop.", buckets: .work)
        fetchBytes = make.counter("fetch_bytes_total", "Bytes of bodies received from origins.")
        fetchConnections = make.readCounter(
            "fetch_connections_total",
            "Connections to origins: opened, reused, or closed because of unexpected bytes.",
            labels: ["use"])
        fetchKeys = make.readCounter(
            "fetch_keys_total",
            "Reads of keys to sign requests with, from files or services, by outcome: ok, failed.",
            labels: ["outcome"])
        fetchesInProgress = make.gauge("fetch_in_progress", "Transfers from origins in progress.")
        fetchesInProgressLimit = make.gauge(
            "fetch_in_progress_limit", "Most transfers at once: fetch.maxConcurrent.")
        fetchQueue = make.gauge("fetch_queue", "Fetches waiting for a slot.")
        fetchQueueLimit = make.gauge("fetch_queue_limit", "Most fetches that wait: fetch.queue.")
        transforms = make.counter("transform_total", "Transforms, by format written and outcome.")
        transformDuration = make.histogram(
            "transform_duration_seconds", "A worker's time on a picture.", buckets: .work)
        transformQueue = make.gauge("transform_queue", "Pictures waiting for a worker.")
        transformQueueLimit = make.gauge(
            "transform_queue_limit", "Most pictures that wait for a worker: transform.queue.")
        transformMemory = make.gauge(
            "transform_memory_bytes", "Memory granted to transforms in progress, by estimate.")
        transformMemoryLimit = make.gauge(
            "transform_memory_limit_bytes", "Most memory granted at once: transform.memoryBudget.")
        transformQueueDuration = make.histogram(
            "transform_queue_seconds", "Time that pictures waited for a worker.", buckets: .work)
        transformCheapest = make.counter(
            "transform_cheapest_total",
            "Results in the cheapest accepted format, because their jobs waited long.")
        transformImprovements = make.counter(
            "transform_improvements_total",
            "Results improved with more effort while workers were idle, by outcome.")
        transformImprovementQueue = make.gauge(
            "transform_improvement_queue", "Results waiting to be improved.")
        workers = make.gauge("workers", "Worker processes.", labels: ["state"])
        workerRestarts = make.readCounter(
            "worker_restarts_total", "Worker processes replaced.", labels: ["reason"])
        workerMemory = make.gauge(
            "worker_memory_bytes",
            "Memory of all workers, a page that several of them share counted once; without shared pages where the kernel hides them."
        )
        reloads = make.counter("reloads_total", "Reloads of the settings, by outcome.")
        lastReloadSuccessful = make.gauge(
            "last_reload_successful", "Whether the last reload was applied: 1 or 0; 1 before the first.")
        prefetches = make.counter("prefetch_total", "Images of prefetch orders, by outcome.")
        prefetchBytes = make.counter("prefetch_bytes_total", "Bytes of images made by prefetching.")
        prefetchWaiting = make.gauge("prefetch_waiting", "Images of prefetch orders that wait.")
        prefetchQueueBytes = make.gauge("prefetch_queue_bytes", "Bytes of the prefetch orders that wait.")
        accessLogDropped = make.readCounter(
            "access_log_dropped_total", "Access-log records lost to a full buffer or a failed write.")
        traceSpans = make.readCounter(
            "trace_spans_total",
            "Spans for the collector of traces: exported, dropped because too many waited, or failed.",
            labels: ["outcome"])
        buildInfo = make.gauge("build_info", "The build, as a label; always 1.", labels: ["version"])
        buildInfo.observe(version) { 1 }
        families = make.families
    }
}

/// Creates families with the daemon's prefix and the same number of shares, and records them.
private struct MetricFactory {
    private static let prefix = "imageproxyd_"
    private let shards: Int
    private(set) var families: [any MetricFamily] = []

    init(shards: Int) { self.shards = shards }

    mutating func counter<Labels>(_ name: String, _ help: String) -> MetricCounter<Labels> {
        record(MetricCounter(Self.prefix + name, help, labels: Labels.self, shards: shards))
    }

    mutating func histogram<Labels>(
        _ name: String, _ help: String, buckets: MetricBuckets
    ) -> MetricHistogram<Labels> {
        record(
            MetricHistogram(Self.prefix + name, help, labels: Labels.self, buckets: buckets, shards: shards))
    }

    mutating func gauge(_ name: String, _ help: String, labels: [String] = []) -> MetricReading {
        record(MetricReading(Self.prefix + name, help, kind: .gauge, labels: labels))
    }

    mutating func readCounter(_ name: String, _ help: String, labels: [String] = []) -> MetricReading {
        record(MetricReading(Self.prefix + name, help, kind: .counter, labels: labels))
    }

    private mutating func record<Family: MetricFamily>(_ family: Family) -> Family {
        families.append(family)
        return family
    }
}
