// SPDX-License-Identifier: Apache-2.0

import Answering
import Dispatch
import Loading
internal import Logging
import Primitives
import Synchronization
import Tracing
import URLs

/// Posts spans to a collector (OTLP over HTTP), in batches, on a thread of its own.
///
/// A collector that does not answer costs spans, and nothing else: they are dropped when too many wait.
final class SpanExporter: Sendable {
    /// The spans that wait.
    let queue: SpanQueue
    private let configuration: TracingConfiguration
    private let url: SourceURL
    private let logger: Logger
    private let wake: DispatchSemaphore
    private let ended = DispatchSemaphore(value: 0)
    private let isEnding = Atomic(false)
    /// Whether the last export failed: only a change is logged.
    private let hasFailed = Atomic(false)

    /// The most tries of one batch.
    private static let maxTries = 3
    /// How long the end of the daemon waits for what is left.
    private static let endTime = DispatchTimeInterval.seconds(5)
    /// Statuses after which an export is tried again (OTLP, "Retryable Response Codes").
    private static let retryable: Set<Int> = [429, 502, 503, 504]

    /// Nil, and a line in the log, where the endpoint is no URL.
    init?(_ configuration: TracingConfiguration, logger: Logger) {
        for warning in configuration.warnings { logger.warning("\(warning)") }
        // Ignored: which part of the URL is wrong.
        guard let url = try? SourceURL(parsing: configuration.endpoint) else {
            logger.error("no traces are sent: '\(configuration.endpoint)' is no http or https URL")
            return nil
        }
        let wake = DispatchSemaphore(value: 0)
        (self.configuration, self.url, self.logger, self.wake) = (configuration, url, logger, wake)
        queue = SpanQueue(
            maxSpans: configuration.queue, batch: configuration.batch, isFull: { wake.signal() })
        logger.notice("traces are sent to \(url.normalized)")
    }

    /// What begins traces.
    var tracer: Tracer { Tracer(sampler: configuration.sampler, queue: queue) }

    /// Starts the thread.
    func start() {
        DispatchQueue(label: "imageproxyd.traces").async { [self] in run() }
    }

    /// Sends what is left, for a few seconds at most. Blocking.
    func stop() {
        isEnding.store(true, ordering: .releasing)
        wake.signal()
        _ = ended.wait(timeout: .now() + Self.endTime)
    }

    private func run() {
        while true {
            if !queue.hasBatch { _ = wake.wait(timeout: .now() + .milliseconds(configuration.delay)) }
            let isLast = isEnding.load(ordering: .acquiring)
            while case let spans = queue.take(), !spans.isEmpty {
                export(spans)
                guard queue.hasBatch || isLast else { break }
            }
            if isLast {
                ended.signal()
                return
            }
        }
    }

    private func export(_ spans: [Span]) {
        let content = OTLPRequest.json(spans, of: configuration.resource, version: Version.current).compact
        for number in 1...Self.maxTries {
            let (isTransient, failure) = send(content)
            guard let failure else {
                queue.count(exported: spans.count)
                if hasFailed.exchange(false, ordering: .relaxed) {
                    logger.notice("traces are received again")
                }
                return
            }
            guard isTransient, number < Self.maxTries, !isEnding.load(ordering: .acquiring) else {
                queue.count(failed: spans.count)
                guard !hasFailed.exchange(true, ordering: .relaxed) else { return }
                logger.warning("traces are lost: \(url.host):\(url.port): \(failure)")
                return
            }
            // Ended early by the next batch, or the daemon's end.
            _ = wake.wait(timeout: .now() + .seconds(number))
        }
    }

    /// - Returns: whether another try may succeed, and why this one failed; nil if it has not.
    private func send(_ content: String) -> (isTransient: Bool, failure: String?) {
        var exchange = ServiceExchange(url: url)
        exchange.method = "POST"
        exchange.lines = ["Content-Type: application/json", "Expect:"]
        for field in configuration.fields {
            guard case .string(let value) = field.value else { continue }
            exchange.lines.append("\(field.name): \(value)")
        }
        exchange.form = content
        exchange.certificate = configuration.certificate
        exchange.timeout = configuration.timeout
        do throws(ServiceExchange.Failure) {
            let status = try exchange.run().status
            guard !(200..<300).contains(status) else { return (false, nil) }
            return (Self.retryable.contains(status), "the collector answered \(status)")
        } catch {
            return (true, error.reason)
        }
    }
}
