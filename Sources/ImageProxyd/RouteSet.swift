// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
import Pipeline
import Request
import Synchronization
import URLs

/// The handlers of requests, all of them made from one version of the settings: a reload replaces them as a
/// whole.
final class RouteSet: Sendable {
    let routes: Routes
    let adminRoutes: AdminRoutes
    let pipeline: ImagePipeline
    let limit: ClientLimit
    let limitConfiguration: RateLimitConfiguration

    init(
        routes: Routes, adminRoutes: AdminRoutes, pipeline: ImagePipeline, limit: ClientLimit,
        limitConfiguration: RateLimitConfiguration
    ) {
        self.routes = routes
        self.adminRoutes = adminRoutes
        self.pipeline = pipeline
        self.limit = limit
        self.limitConfiguration = limitConfiguration
    }

    /// Hot path: as the routes do.
    func answersAtOnce(_ request: HTTPRequest, with response: inout HTTPResponse) -> Bool {
        routes.answersAtOnce(request, with: &response)
    }
}

/// The handlers of requests from now on; requests in progress end in those they began in. Safe from any
/// thread.
final class CurrentRoutes: Sendable {
    private let routeSet: Mutex<RouteSet>

    init(_ routeSet: RouteSet) {
        self.routeSet = Mutex(routeSet)
    }

    /// Hot path: a lock and a reference.
    var value: RouteSet { routeSet.withLock { $0 } }

    /// Replaces the handlers.
    func replace(by other: RouteSet) {
        routeSet.withLock { $0 = other }
    }
}

/// Forwards requests to the current routes.
final class CurrentHandler: RequestHandling {
    private let currentRoutes: CurrentRoutes
    private let accounting: Accounting

    init(currentRoutes: CurrentRoutes, accounting: Accounting) {
        self.currentRoutes = currentRoutes
        self.accounting = accounting
    }

    func answersAtOnce(_ request: HTTPRequest, with response: inout HTTPResponse) -> Bool {
        currentRoutes.value.answersAtOnce(request, with: &response)
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer { currentRoutes.value.routes.answer(request) }

    /// Only a picture is taken.
    func takesContent(of request: HTTPRequest) -> Bool {
        currentRoutes.value.routes.uploadHandler(of: request)?.mayUpload(request) ?? false
    }

    func contentReceiver(of request: HTTPRequest) -> (any HTTPContentReceiving)? {
        currentRoutes.value.routes.contentReceiver(of: request)
    }

    func answer(_ request: HTTPRequest, with content: any HTTPContentReceiving) -> HTTPAnswer {
        currentRoutes.value.routes.answer(request, with: content)
    }

    func isVital(_ request: HTTPRequest) -> Bool { Routes.isVital(request) }

    func didFinish(_ exchange: HTTPExchange) { accounting.didFinish(exchange) }
}

/// Forwards operators' requests to the current routes.
final class CurrentAdminHandler: RequestHandling {
    private let currentRoutes: CurrentRoutes
    private let accounting: Accounting

    init(currentRoutes: CurrentRoutes, accounting: Accounting) {
        self.currentRoutes = currentRoutes
        self.accounting = accounting
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer { currentRoutes.value.adminRoutes.answer(request) }

    /// Only a picture is taken.
    func takesContent(of request: HTTPRequest) -> Bool {
        currentRoutes.value.adminRoutes.mayUpload(request)
    }

    func contentReceiver(of request: HTTPRequest) -> (any HTTPContentReceiving)? {
        currentRoutes.value.adminRoutes.images.contentReceiver(of: request)
    }

    func answer(_ request: HTTPRequest, with content: any HTTPContentReceiving) -> HTTPAnswer {
        currentRoutes.value.adminRoutes.answer(request, with: content)
    }

    func isVital(_ request: HTTPRequest) -> Bool { true }

    func didFinish(_ exchange: HTTPExchange) { accounting.didFinish(exchange) }
}

/// The sources that redirects may lead to, by the current settings.
final class CurrentSources: Sendable {
    private let policy: Mutex<SourcePolicy>

    init(_ policy: SourcePolicy) {
        self.policy = Mutex(policy)
    }

    func allows(_ url: SourceURL) -> Bool { policy.withLock { $0 }.allows(url) }

    func replace(by other: SourcePolicy) {
        policy.withLock { $0 = other }
    }
}
