// SPDX-License-Identifier: Apache-2.0

import Answering
internal import HTTPServer
import Observability
import Synchronization

/// Forwards requests to the handlers of the current settings; requests in progress end in those they began
/// in. Safe from any thread.
final class CurrentRoutes: RequestHandling {
    private let routes: Mutex<Routes>
    /// The same for hits, which neither lock nor count references: each would be one cache line for all cores.
    private let addressForHits: Atomic<UInt>
    private let accounting: Accounting

    init(_ routes: Routes, _ accounting: Accounting) {
        self.routes = Mutex(routes)
        addressForHits = Atomic(Self.address(of: routes))
        self.accounting = accounting
    }

    /// The handlers, for any thread.
    var value: Routes { routes.withLock { $0 } }

    /// Replaces the handlers.
    ///
    /// - Parameter loopsHaveTurned: returns when every event loop has ended the turn it is in. Until then a loop may use the
    ///   earlier handlers, which stay as long.
    func replace(by other: Routes, _ loopsHaveTurned: @escaping @Sendable () async -> Void) {
        let earlier = routes.withLock { routes in
            defer { routes = other }
            return routes
        }
        addressForHits.store(Self.address(of: other), ordering: .releasing)
        Task {
            await loopsHaveTurned()
            withExtendedLifetime(earlier) {}
        }
    }

    private static func address(of routes: Routes) -> UInt {
        UInt(bitPattern: unsafe Unmanaged.passUnretained(routes).toOpaque())
    }

    /// Called by an event loop, within a turn.
    func answersAtOnce(_ request: HTTPRequest, with response: inout HTTPResponse) -> Bool {
        // Safe because `replace` keeps what a loop may have read here until that loop's turn has ended.
        guard let routes = unsafe UnsafeRawPointer(bitPattern: addressForHits.load(ordering: .acquiring))
        else { return false }
        return unsafe Unmanaged<Routes>.fromOpaque(routes)
            ._withUnsafeGuaranteedRef { $0.answersAtOnce(request, with: &response) }
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer { value.answer(request) }

    /// Only a picture is taken.
    func takesContent(of request: HTTPRequest) -> Bool {
        value.uploadHandler(of: request)?.mayUpload(request) ?? false
    }

    func contentReceiver(of request: HTTPRequest) -> (any HTTPContentReceiving)? {
        value.contentReceiver(of: request)
    }

    func answer(_ request: HTTPRequest, with content: any HTTPContentReceiving) -> HTTPAnswer {
        value.answer(request, with: content)
    }

    func isVital(_ request: HTTPRequest) -> Bool { Routes.isVital(request) }

    func mark(_ refusal: inout HTTPResponse, to request: HTTPRequest, detail: String?) {
        let route = value.route(of: request)
        refusal.context = ExchangeContext(route).packed
        refusal.note = ExchangeNote(refusal: refusal.status, detail, at: route == .other ? request : nil)
    }

    func didFinish(_ exchange: HTTPExchange) { accounting.didFinish(exchange) }
}
