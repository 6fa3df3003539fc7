// SPDX-License-Identifier: Apache-2.0

/// The metrics of the daemon, in the order in which they are printed.
///
/// To add one: a property, which is its row; a counter or histogram has its row in `init`, since its cells depend on the number
/// of event loops. Counters and histograms are incremented from any thread, on the hit path too:
/// `metrics.httpRequests.increment(.img, 200, on: .loop(0))`. Readings are registered at start:
/// `metrics.cacheBytes.observe("memory", "result") { … }`. No URL, host, query or header value is ever a label.
package final class Metrics: Sendable {
    package let httpRequests: MetricCounter<LabelPair<Metric.Route, Metric.Status>>
    package let httpRequestDuration: MetricHistogram<LabelPair<Metric.Route, Metric.Cache>>
    package let httpFailures: MetricCounter<LabelPair<Metric.Route, Metric.FailureCause>>
    package let httpConnections = MetricReading.gauge("http_connections", "Client connections open.")
    package let httpConnectionsLimit = MetricReading.gauge(
        "http_connections_limit",
        "Most client connections at once: http.maxConnections, or fewer for lack of descriptors.")
    package let httpConnectionsTotal = MetricReading.counter(
        "http_connections_total", "Client connections accepted.")
    package let httpRejected = MetricReading.counter(
        "http_rejected_total", "Connections and requests refused or cut by the server.",
        labels: ["reason": Metric.rejections])
    package let httpResponseBytes: MetricCounter<Metric.Route>

    package let cacheRequests = MetricReading.counter(
        "cache_requests_total", "Cache look-ups, by tier, kind and outcome.",
        labels: [
            "tier": ["memory", "disk", "shared"], "kind": Metric.entryKinds,
            "outcome": ["hit", "stale", "miss"],
        ])
    package let cacheEnabled = MetricReading.gauge(
        "cache_enabled", "Whether a tier stores entries of a kind: 1 or 0.",
        labels: ["tier": Metric.tiers, "kind": ["original", "result"]])
    package let cacheBytes = MetricReading.gauge(
        "cache_bytes", "Bytes stored.", labels: ["tier": Metric.tiers, "kind": Metric.entryKinds])
    package let cacheOverheadBytes = MetricReading.gauge(
        "cache_overhead_bytes", "Bytes that index, journal and folders take beside the entries.",
        labels: ["tier": ["disk"]])
    package let cacheLimitBytes = MetricReading.gauge(
        "cache_limit_bytes",
        "Most bytes that a tier takes; less than cache.memory.maxBytes while the machine lacks memory.",
        labels: ["tier": Metric.tiers])
    package let cacheHeldBytes = MetricReading.gauge(
        "cache_held_bytes", "Bytes of pictures in memory, in the tier or in answers that are being sent.")
    package let cacheEntries = MetricReading.gauge(
        "cache_entries", "Entries stored.", labels: ["tier": Metric.tiers, "kind": Metric.entryKinds])
    package let cacheEvictions = MetricReading.counter(
        "cache_evictions_total", "Entries evicted.",
        labels: ["tier": Metric.tiers, "reason": Metric.evictions])
    package let cacheCorrupt = MetricReading.counter(
        "cache_corrupt_total", "Entries found damaged and removed.", labels: ["tier": ["disk"]])
    package let cacheWriteErrors = MetricReading.counter(
        "cache_write_errors_total", "Entries that could not be stored.", labels: ["tier": ["disk"]])

    package let sharedRequests = MetricReading.counter(
        "shared_requests_total", "Exchanges with the object store of the shared tier, by outcome.",
        labels: ["operation": Metric.SharedOperation.allCases.map(\.label), "outcome": Metric.sharedOutcomes])
    package let sharedDuration: MetricHistogram<Metric.SharedOperation>
    package let sharedBytes = MetricReading.counter(
        "shared_bytes_total", "Bytes of objects, in from the store and out to it.",
        labels: ["direction": ["in", "out"]])
    package let sharedQueueBytes = MetricReading.gauge(
        "shared_queue_bytes", "Bytes of the names of pictures that wait to be uploaded.")
    package let sharedQueueLimitBytes = MetricReading.gauge(
        "shared_queue_limit_bytes", "Most bytes of the names of pictures that wait: shared.queueBytes.")
    package let sharedDropped = MetricReading.counter(
        "shared_dropped_total", "Pictures that were not uploaded because too many waited.")
    package let sharedBreakerOpen = MetricReading.gauge(
        "shared_breaker_open", "Whether the object store gets no requests for a while: 1 or 0.")
    package let sharedJournalAge = MetricReading.gauge(
        "shared_journal_age_seconds",
        "Time since the journal of purges was read, or since the start; after 60 s the shared tier is not used."
    )
    package let sharedPurges = MetricReading.gauge(
        "shared_purges", "Purges of all nodes that are remembered.")
    package let clusterMessagesFailed = MetricReading.counter(
        "cluster_messages_failed_total", "Purges that did not reach another node at once.")

    package let coalescedRequests: MetricCounter<Metric.SharedTask>
    package let tasks = MetricReading.gauge(
        "tasks", "Fetches and transforms that further requests can join, queued ones included.",
        labels: ["task": Metric.SharedTask.allCases.map(\.label)])
    package let failedURLs = MetricReading.gauge(
        "failed_urls", "Failed URLs remembered.", labels: ["class": Metric.failureClasses])
    package let failedURLHits = MetricReading.counter(
        "failed_url_hits_total", "Requests answered from the memory of failed URLs.",
        labels: ["class": Metric.failureClasses])
    package let hostBreakersOpen = MetricReading.gauge(
        "host_breakers_open",
        "Origins that get no requests for a while: they could not be reached, or answered 429 with Retry-After."
    )

    package let fetches: MetricCounter<Metric.Fetch>
    package let fetchDuration: MetricHistogram<Metric.Fetch>
    package let fetchPhase: MetricHistogram<Metric.Phase>
    package let fetchBytes: MetricCounter<NoLabels>
    package let fetchConnections = MetricReading.counter(
        "fetch_connections_total",
        "Connections to origins: opened, reused, or closed because of unexpected bytes.",
        labels: ["use": ["new", "reused", "tainted"]])
    package let fetchKeys = MetricReading.counter(
        "fetch_keys_total",
        "Reads of keys to sign requests with, from files or services, by outcome: ok, failed.",
        labels: ["outcome": ["ok", "failed"]])
    package let fetchesInProgress = MetricReading.gauge(
        "fetch_in_progress", "Transfers from origins in progress.")
    package let fetchesInProgressLimit = MetricReading.gauge(
        "fetch_in_progress_limit", "Most transfers at once: fetch.maxConcurrent.")
    package let fetchQueue = MetricReading.gauge("fetch_queue", "Fetches waiting for a slot.")
    package let fetchQueueLimit = MetricReading.gauge(
        "fetch_queue_limit", "Most fetches that wait: fetch.queue.")

    package let transforms: MetricCounter<LabelPair<Metric.Format, Metric.Transform>>
    package let transformDuration: MetricHistogram<Metric.Format>
    package let transformQueue = MetricReading.gauge("transform_queue", "Pictures waiting for a worker.")
    package let transformQueueLimit = MetricReading.gauge(
        "transform_queue_limit", "Most pictures that wait for a worker: transform.queue.")
    package let transformMemory = MetricReading.gauge(
        "transform_memory_bytes", "Memory granted to transforms in progress, by estimate.")
    package let transformMemoryLimit = MetricReading.gauge(
        "transform_memory_limit_bytes", "Most memory granted at once: transform.memoryBudget.")
    package let transformQueueDuration: MetricHistogram<NoLabels>
    package let transformCheapest: MetricCounter<NoLabels>
    package let transformImprovements: MetricCounter<Metric.Improvement>
    package let transformImprovementQueue = MetricReading.gauge(
        "transform_improvement_queue", "Results waiting to be improved.")
    package let workers = MetricReading.gauge(
        "workers", "Worker processes.", labels: ["state": ["starting", "idle", "busy"]])
    package let workerRestarts = MetricReading.counter(
        "worker_restarts_total", "Worker processes replaced.", labels: ["reason": Metric.restarts])
    package let workerMemory = MetricReading.gauge(
        "worker_memory_bytes",
        "Memory of all workers, a page that several of them share counted once; without shared pages where the kernel hides them."
    )

    package let reloads: MetricCounter<Metric.Reload>
    package let lastReloadSuccessful = MetricReading.gauge(
        "last_reload_successful", "Whether the last reload was applied: 1 or 0; 1 before the first.")
    package let prefetches: MetricCounter<Metric.Prefetch>
    package let prefetchBytes: MetricCounter<NoLabels>
    package let prefetchWaiting = MetricReading.gauge(
        "prefetch_waiting", "Images of prefetch orders that wait.")
    package let prefetchQueueBytes = MetricReading.gauge(
        "prefetch_queue_bytes", "Bytes of the prefetch orders that wait.")

    package let accessLogDropped = MetricReading.counter(
        "access_log_dropped_total", "Access-log records lost to a full buffer or a failed write.")
    package let traceSpans = MetricReading.counter(
        "trace_spans_total",
        "Spans for the collector of traces: exported, dropped because too many waited, or failed.",
        labels: ["outcome": ["exported", "dropped", "failed"]])
    let buildInfo = MetricReading.gauge(
        "build_info", "The build, as a label; always 1.", labels: ["version": []])

    /// Every family except those of the process, in the order of the properties.
    package var families: [any MetricFamily] {
        Mirror(reflecting: self).children.compactMap { $0.value as? any MetricFamily }
    }

    /// Allocates the counters, with a share for each of `loops` event loops in addition to the common one.
    package init(loops: Int, version: String) {
        let shards = loops + 1
        httpRequests = MetricCounter(
            "http_requests_total", "Requests answered, by route and status.", shards: shards)
        httpRequestDuration = MetricHistogram(
            "http_request_duration_seconds", "Time from a request's head to the last byte of its answer.",
            buckets: .requests, shards: shards)
        httpFailures = MetricCounter(
            "http_failures_total",
            "Requests that failed: answers of 400 and more, and answers that broke off, by where the fault lies.",
            shards: shards)
        httpResponseBytes = MetricCounter(
            "http_response_bytes_total", "Bytes of bodies sent to clients.", shards: shards)
        sharedDuration = MetricHistogram(
            "shared_duration_seconds", "Time of exchanges with the object store.", buckets: .work,
            shards: shards)
        coalescedRequests = MetricCounter(
            "coalesced_requests_total", "Requests that joined another request's fetch or transform.",
            shards: shards)
        fetches = MetricCounter("fetch_total", "Fetches from origins, by outcome.", shards: shards)
        fetchDuration = MetricHistogram(
            "fetch_duration_seconds", "Time of whole fetches, redirects included.", buckets: .work,
            shards: shards)
        fetchPhase = MetricHistogram(
            "fetch_phase_seconds", "Time of the phases of a fetch's last hop.", buckets: .work, shards: shards
        )
        fetchBytes = MetricCounter(
            "fetch_bytes_total", "Bytes of bodies received from origins.", shards: shards)
        transforms = MetricCounter(
            "transform_total", "Transforms, by format written and outcome.", shards: shards)
        transformDuration = MetricHistogram(
            "transform_duration_seconds", "A worker's time on a picture.", buckets: .work, shards: shards)
        transformQueueDuration = MetricHistogram(
            "transform_queue_seconds", "Time that pictures waited for a worker.", buckets: .work,
            shards: shards)
        transformCheapest = MetricCounter(
            "transform_cheapest_total",
            "Results in the cheapest accepted format, because their jobs waited long.", shards: shards)
        transformImprovements = MetricCounter(
            "transform_improvements_total",
            "Results improved with more effort while workers were idle, by outcome.", shards: shards)
        reloads = MetricCounter("reloads_total", "Reloads of the settings, by outcome.", shards: shards)
        prefetches = MetricCounter("prefetch_total", "Images of prefetch orders, by outcome.", shards: shards)
        prefetchBytes = MetricCounter(
            "prefetch_bytes_total", "Bytes of images made by prefetching.", shards: shards)
        buildInfo.observe(version) { 1 }
    }
}
