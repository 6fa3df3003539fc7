// SPDX-License-Identifier: Apache-2.0

import Answering
internal import HTTPServer
import Observability

/// Answers on the addresses of `metrics.listen`: metrics, health, and the documentation, to which alerts link. No token is
/// needed, since nothing here changes or names anything.
final class MetricsHandler: RequestHandling {
    private let currentRoutes: CurrentRoutes
    private let accounting: Accounting
    private let documents = DocumentPages(isAdmin: true)

    init(currentRoutes: CurrentRoutes, accounting: Accounting) {
        self.currentRoutes = currentRoutes
        self.accounting = accounting
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        let answer = routed(request)
        guard case .now(var response) = answer else { return answer }
        if response.note == nil {
            response.note = ExchangeNote(path: request.path)
        }
        return .now(response)
    }

    private func routed(_ request: HTTPRequest) -> HTTPAnswer {
        let status = currentRoutes.value.admin.status
        let route = unsafe request.withTarget { unsafe Metric.Route(of: $0) }
        let page = documents.answer(request)
        guard page != nil || [.metrics, .healthz, .readyz].contains(route) else { return .now(Self.notFound) }
        guard request.method == .get || request.method == .head else { return .now(Self.methodNotAllowed) }
        switch route {
        case .healthz: return .now(status.health)
        case .readyz: return .now(status.readiness())
        case .metrics:
            return .later(context: ExchangeContext(.metrics).packed) { await status.metrics(for: request) }
        default: return page ?? .now(Self.notFound)
        }
    }

    func takesContent(of request: HTTPRequest) -> Bool { false }

    func isVital(_ request: HTTPRequest) -> Bool { true }

    func mark(_ refusal: inout HTTPResponse, to request: HTTPRequest, detail: String?) {
        refusal.context = ExchangeContext(.other).packed
        refusal.note = ExchangeNote(refusal: refusal.status, detail, at: request)
    }

    func didFinish(_ exchange: HTTPExchange) { accounting.didFinish(exchange) }

    private static let notFound = ResponseMapping.problem(
        .notFound.explained("here are /metrics, /healthz, /readyz and /docs/"),
        context: ExchangeContext(.other))

    private static let methodNotAllowed = ResponseMapping.methodNotAllowed(
        "GET, HEAD", "allowed are GET and HEAD", context: ExchangeContext(.other))
}
