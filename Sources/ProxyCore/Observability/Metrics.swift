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
    package let httpConnections: MetricReading
    package let httpConnectionsTotal: MetricReading
    package let httpRejected: MetricReading
    package let httpResponseBytes: MetricCounter<Metric.Route>

    package let cacheRequests: MetricReading
    package let cacheBytes: MetricReading
    package let cacheHeldBytes: MetricReading
    package let cacheEntries: MetricReading
    package let cacheEvictions: MetricReading
    package let cacheCorrupt: MetricReading
    package let cacheWriteErrors: MetricReading

    package let coalescedRequests: MetricCounter<Metric.Flight>
    package let flights: MetricReading
    package let failedURLs: MetricReading
    package let failedURLHits: MetricReading
    package let hostBreakersOpen: MetricReading

    package let fetches: MetricCounter<Metric.Fetch>
    package let fetchDuration: MetricHistogram<Metric.Fetch>
    package let fetchPhase: MetricHistogram<Metric.Phase>
    package let fetchBytes: MetricCounter<NoLabels>
    package let fetchConnections: MetricReading
    package let fetchKeys: MetricReading
    package let fetchesInFlight: MetricReading
    package let fetchQueue: MetricReading

    package let transforms: MetricCounter<LabelPair<Metric.Format, Metric.Transform>>
    package let transformDuration: MetricHistogram<Metric.Format>
    package let transformQueue: MetricReading
    package let transformQueueDuration: MetricHistogram<NoLabels>
    package let transformCheapest: MetricCounter<NoLabels>
    package let transformImprovements: MetricCounter<Metric.Improvement>
    package let transformImprovementQueue: MetricReading
    package let workers: MetricReading
    package let workerRestarts: MetricReading

    package let accessLogDropped: MetricReading
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
        httpConnections = make.gauge("http_connections", "Client connections open.")
        httpConnectionsTotal = make.readCounter("http_connections_total", "Client connections accepted.")
        httpRejected = make.readCounter(
            "http_rejected_total", "Connections and requests refused or cut by the server.",
            labels: ["reason"])
        httpResponseBytes = make.counter("http_response_bytes_total", "Bytes of bodies sent to clients.")
        cacheRequests = make.readCounter(
            "cache_requests_total", "Cache look-ups, by tier, kind and outcome.",
            labels: ["tier", "kind", "outcome"])
        cacheBytes = make.gauge("cache_bytes", "Bytes stored.", labels: ["tier", "kind"])
        cacheHeldBytes = make.gauge(
            "cache_held_bytes", "Bytes of pictures in memory, in the tier or in answers that are being sent.")
        cacheEntries = make.gauge("cache_entries", "Entries stored.", labels: ["tier", "kind"])
        cacheEvictions = make.readCounter(
            "cache_evictions_total", "Entries evicted.", labels: ["tier", "reason"])
        cacheCorrupt = make.readCounter(
            "cache_corrupt_total", "Entries found damaged and removed.", labels: ["tier"])
        cacheWriteErrors = make.readCounter(
            "cache_write_errors_total", "Entries that could not be stored.", labels: ["tier"])
        coalescedRequests = make.counter(
            "coalesced_requests_total", "Requests that joined another request's fetch or transform.")
        flights = make.gauge("flights", "Fetches and transforms in progress.", labels: ["flight"])
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
            "How often files or services were asked for keys to sign requests with, by outcome: ok, failed.",
            labels: ["outcome"])
        fetchesInFlight = make.gauge("fetch_inflight", "Transfers from origins in progress.")
        fetchQueue = make.gauge("fetch_queue", "Fetches waiting for a slot.")
        transforms = make.counter("transform_total", "Transforms, by format written and outcome.")
        transformDuration = make.histogram(
            "transform_duration_seconds", "A worker's time on a picture.", buckets: .work)
        transformQueue = make.gauge("transform_queue", "Pictures waiting for a worker.")
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
        accessLogDropped = make.readCounter(
            "access_log_dropped_total", "Access-log records lost to a full lane or a failed write.")
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
