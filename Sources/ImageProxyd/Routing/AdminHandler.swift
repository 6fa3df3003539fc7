// SPDX-License-Identifier: Apache-2.0

import Answering
internal import HTTPServer
import Observability

/// Forwards operators' requests to the admin routes of the current settings. Safe from any thread.
final class AdminHandler: RequestHandling {
    private let currentRoutes: CurrentRoutes
    private let accounting: Accounting

    init(currentRoutes: CurrentRoutes, accounting: Accounting) {
        self.currentRoutes = currentRoutes
        self.accounting = accounting
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer { currentRoutes.value.admin.answer(request) }

    /// Only a picture, or a prefetch order, is taken.
    func takesContent(of request: HTTPRequest) -> Bool {
        currentRoutes.value.admin.mayUpload(request)
    }

    func contentReceiver(of request: HTTPRequest) -> (any HTTPContentReceiving)? {
        currentRoutes.value.admin.contentReceiver(of: request)
    }

    func answer(_ request: HTTPRequest, with content: any HTTPContentReceiving) -> HTTPAnswer {
        currentRoutes.value.admin.answer(request, with: content)
    }

    func isVital(_ request: HTTPRequest) -> Bool { true }

    func mark(_ refusal: inout HTTPResponse, to request: HTTPRequest, detail: String?) {
        let admin = currentRoutes.value.admin
        if refusal.status.code == 413, admin.prefetch.isBounded, admin.takesOrder(request) {
            refusal.body = .bytes(AdminFailure.contentTooLarge.document.json)
        }
        refusal.context = ExchangeContext(.admin).packed
        refusal.note = ExchangeNote(refusal: refusal.status, detail, at: request)
    }

    func didFinish(_ exchange: HTTPExchange) { accounting.didFinish(exchange) }
}
