// SPDX-License-Identifier: Apache-2.0

import Answering
internal import HTTPServer
import Observability

/// Answers `/healthz`, `/readyz` and `/metrics`; never queued after image work.
struct StatusHandler: Sendable {
    let text: MetricsText
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
    func metrics(for request: HTTPRequest) async -> HTTPResponse {
        let format = PrometheusText.Format(accept: request.values(of: .accept).joined(separator: ","))
        var response = Self.response(await text.bytes(as: format), .ok, .metrics)
        response.fields.set(.contentType, text: format.mediaType)
        return response
    }

    private static func text(_ text: String, _ status: HTTPStatus, _ route: Metric.Route) -> HTTPResponse {
        response(Array(text.utf8), status, route)
    }

    private static func response(
        _ text: [UInt8], _ status: HTTPStatus, _ route: Metric.Route
    ) -> HTTPResponse {
        var response = HTTPResponse(status: status)
        response.fields.append(.contentType, text: "text/plain; charset=utf-8")
        response.fields.append(.cacheControl, text: "no-store")
        response.body = .bytes(text)
        response.context = ExchangeContext(route).packed
        return response
    }
}
