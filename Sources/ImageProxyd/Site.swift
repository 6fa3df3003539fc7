// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
internal import ProxyCore
import Synchronization

/// What a request meets, all of it made from one version of the settings: a reload replaces it as a whole.
final class Site: Sendable {
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

/// The site that requests meet from now on; those under way end in the one they began in. Safe from any thread.
final class LiveSite: Sendable {
    private let site: Mutex<Site>

    init(_ site: Site) {
        self.site = Mutex(site)
    }

    /// Hot path: a lock and a reference.
    var current: Site { site.withLock { $0 } }

    /// Has requests meet another site.
    func replace(by other: Site) {
        site.withLock { $0 = other }
    }
}

/// Leads requests to the routes of the live site.
final class LiveRoutes: RequestHandling {
    private let live: LiveSite
    private let accounting: Accounting

    init(live: LiveSite, accounting: Accounting) {
        self.live = live
        self.accounting = accounting
    }

    func answersAtOnce(_ request: HTTPRequest, with response: inout HTTPResponse) -> Bool {
        live.current.answersAtOnce(request, with: &response)
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer { live.current.routes.answer(request) }

    /// No route wants any.
    func takesContent(of request: HTTPRequest) -> Bool { false }

    func isVital(_ request: HTTPRequest) -> Bool { Routes.isVital(request) }

    func didFinish(_ exchange: HTTPExchange) { accounting.didFinish(exchange) }
}

/// Leads operators' requests to the live site.
final class LiveAdminRoutes: RequestHandling {
    private let live: LiveSite
    private let accounting: Accounting

    init(live: LiveSite, accounting: Accounting) {
        self.live = live
        self.accounting = accounting
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer { live.current.adminRoutes.answer(request) }

    /// No route wants any.
    func takesContent(of request: HTTPRequest) -> Bool { false }

    func isVital(_ request: HTTPRequest) -> Bool { true }

    func didFinish(_ exchange: HTTPExchange) { accounting.didFinish(exchange) }
}

/// The sources that redirects may lead to, as the live settings have it.
final class LiveSources: Sendable {
    private let policy: Mutex<SourcePolicy>

    init(_ policy: SourcePolicy) {
        self.policy = Mutex(policy)
    }

    func allows(_ url: SourceURL) -> Bool { policy.withLock { $0 }.allows(url) }

    func replace(by other: SourcePolicy) {
        policy.withLock { $0 = other }
    }
}
