// SPDX-License-Identifier: Apache-2.0

import Answering
internal import HTTPServer
import Observability

/// Answers `/healthz`, `/readyz` and `/metrics`; never queued after image work.
struct StatusHandler: Sendable {
    let metrics: Metrics
    /// Whether images can be served: caches open, workers up, not draining.
    let isReady: @Sendable () -> Bool

    /// The process answers.
    let health = Self.text("ok\n", .ok, .healthz)

    /// 200 when images can be served, else 503.
    func readiness() -> HTTPResponse {
        isReady()
            ? Self.text("ready\n", .ok, .readyz) : Self.text("not ready\n", .serviceUnavailable, .readyz)
    }

    /// The metrics in the format that the client accepts.
    func metrics(for request: HTTPRequest) -> HTTPResponse {
        let format = PrometheusText.Format(accept: request.values(of: .accept).joined(separator: ","))
        let families = metrics.families + ProcessMetrics.families()
        var response = Self.text(PrometheusText.text(of: families, as: format), .ok, .metrics)
        response.fields.set(.contentType, text: format.mediaType)
        return response
    }

    private static func text(_ text: String, _ status: HTTPStatus, _ route: Metric.Route) -> HTTPResponse {
        var response = HTTPResponse(status: status)
        response.fields.append(.contentType, text: "text/plain; charset=utf-8")
        response.fields.append(.cacheControl, text: "no-store")
        response.body = .bytes(Array(text.utf8))
        response.context = ExchangeContext(route).packed
        return response
    }
}
