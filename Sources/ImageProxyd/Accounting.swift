// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
internal import ProxyCore

/// Counts each exchange when it has ended. Hot path: a few atomics.
struct Accounting: Sendable {
    let metrics: Metrics

    func didFinish(_ exchange: HTTPExchange) {
        let context = ExchangeContext(packed: exchange.context)
        let shard = MetricShard.shared
        metrics.httpRequests.increment(context.route, Metric.Status(Int(exchange.status.code)), on: shard)
        metrics.httpRequestDuration.observe(
            nanoseconds: exchange.duration, context.route, context.cache, on: shard)
        metrics.httpResponseBytes.add(exchange.bodyBytesSent, context.route, on: shard)
    }
}
