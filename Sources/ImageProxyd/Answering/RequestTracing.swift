// SPDX-License-Identifier: Apache-2.0

import Glibc
package import HTTPServer
package import Observability
package import Pipeline
import Primitives
package import Tracing

/// Runs the work of requests that no cache has answered at once, each in its context, and in its trace if it is traced.
package struct RequestTracing: Sendable {
    /// Nil where nothing is traced.
    private let tracer: Tracer?
    /// Whether pictures are requested from other nodes.
    private let asksNodes: Bool

    package init(tracer: Tracer?, asksNodes: Bool = false) {
        self.tracer = tracer
        self.asksNodes = asksNodes
    }

    /// Runs a request's work.
    /// - Parameter route: the path of the request's handler, such as `/img`.
    package func run(
        _ request: HTTPRequest, at route: Metric.Route, _ work: (FetchContext) async -> HTTPResponse
    ) async -> HTTPResponse {
        let trace = begin(request)
        let context = FetchContext(
            request, forwarding: ForwardingRecord(), trace: trace,
            asked: asksNodes ? FetchContext.ForwardedRequest(request) : nil)
        let response = await work(context)
        guard let trace else { return response }
        let path = route.path
        let status = Int(response.status.code)
        let cache = ExchangeContext(packed: response.context).cache
        var attributes = [
            Span.Attribute("http.request.method", .string("\(request.method.name)")),
            Span.Attribute("http.route", .string(path)),
            Span.Attribute("http.response.status_code", .integer(status)),
            Span.Attribute("imageproxyd.cache", .string(cache.label)),
        ]
        let code = (response.note as? ExchangeNote)?.code
        if let code { attributes.append(Span.Attribute("error.type", .string(code))) }
        let now = UInt64(SystemTime.nanoseconds(of: CLOCK_MONOTONIC))
        trace.end(
            "\(request.method.name) \(path)", attributes, error: status >= 500 ? code ?? "\(status)" : nil,
            at: now)
        return response
    }

    private func begin(_ request: HTTPRequest) -> Trace? {
        guard let tracer else { return nil }
        let parent = FetchContext.parent(of: request).flatMap { TraceContext(traceparent: $0) }
        let epoch =
            SystemTime.nanoseconds(of: CLOCK_REALTIME) - SystemTime.nanoseconds(of: CLOCK_MONOTONIC)
        return tracer.begin(parent, at: request.receivedAt, epoch: UInt64(max(0, epoch)))
    }
}
