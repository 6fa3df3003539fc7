// SPDX-License-Identifier: Apache-2.0

import Cache
package import HTTPServer
package import Observability
import Pipeline
import Request

/// Counts each exchange when it has ended, and writes its line to the access log. Hot path: a few atomics and
/// a lock; what was no hit also enters the tables of the live view.
package struct Accounting: Sendable {
    private let metrics: Metrics
    private let log: AccessLog
    private let recentWork: RecentWork

    package init(metrics: Metrics, log: AccessLog, recentWork: RecentWork) {
        self.metrics = metrics
        self.log = log
        self.recentWork = recentWork
    }

    package func didFinish(_ exchange: HTTPExchange) {
        let context = ExchangeContext(packed: exchange.context)
        let shard = MetricShard.loop(exchange.loop)
        metrics.httpRequests.increment(context.route, Metric.Status(Int(exchange.status.code)), on: shard)
        metrics.httpRequestDuration.observe(
            nanoseconds: exchange.duration, context.route, context.cache, on: shard)
        if let cause = Self.cause(of: exchange, context) {
            metrics.httpFailures.increment(context.route, cause, on: shard)
        }
        if exchange.bodyBytesSent > 0 {
            metrics.httpResponseBytes.add(exchange.bodyBytesSent, context.route, on: shard)
        }
        let isWork = RecentWork.counts(context.route, context.cache)
        let isLogged = log.wants(status: Int(exchange.status.code), cache: context.cache)
        guard isLogged || isWork else { return }
        let record = AccessRecord(exchange, context, url: log.url)
        if isWork { recentWork.record(record) }
        if isLogged { log.record(record, buffer: exchange.loop) }
    }

    /// Hot path: where the fault of an exchange that failed lies; nil for one that did not fail, or
    /// whose client left while its body was sent.
    private static func cause(of exchange: HTTPExchange, _ context: ExchangeContext) -> Metric.FailureCause? {
        let status = Int(exchange.status.code)
        guard status < 400 else { return context.cause ?? Metric.FailureCause(status: status) }
        guard exchange.wasCut else { return nil }
        return (exchange.note as? ExchangeNote)?.bodyFailure?.row.failureCause
    }
}

extension AccessRecord {
    /// - Parameter url: how much of a source's URL is logged.
    package init(_ exchange: HTTPExchange, _ context: ExchangeContext, url: LogConfiguration.URLDetail) {
        self.init(
            finishedAt: exchange.finishedAt, duration: exchange.duration, status: Int(exchange.status.code),
            bytes: exchange.bodyBytesSent, route: context.route, cache: context.cache)
        method = exchange.method.name
        requestID = unsafe exchange.requestID.withBytes { unsafe InlineText($0) }
        traceID = exchange.traceID
        client = Client(exchange.peer)
        guard let note = exchange.note as? ExchangeNote else {
            if url != .none, let entry = exchange.note as? MemoryEntry {
                hitURL = ImageRequest.source(inKeyText: entry.description.keyText)
                hitURLDetail = url
            } else if exchange.context == 0, exchange.status.code >= 400 {
                miss = .ofServer(exchange.status)
            }
            return
        }
        miss = note.miss(status: exchange.status, wasCut: exchange.wasCut, url: url)
        if let path = note.path { self.path = path }
    }
}

extension AccessRecord.Miss {
    /// The values of an answer that the server has made itself; none where a client left before there was one.
    fileprivate static func ofServer(_ status: HTTPStatus) -> AccessRecord.Miss? {
        var miss = AccessRecord.Miss(host: "")
        miss.problem = status.problemCode
        return miss.problem.isEmpty ? nil : miss
    }
}

extension AccessRecord.Client {
    package init(_ peer: PeerAddress) {
        self =
            switch peer {
            case .unix: .unix
            case .v4(let bits): .v4(bits)
            case .v6(let high, let low): .v6(high, low)
            }
    }
}
