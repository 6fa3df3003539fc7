// SPDX-License-Identifier: Apache-2.0

import Answering
internal import HTTPServer
import Observability
import Pipeline

/// The table of routes: which handler answers which path. All handlers are made from one version of the
/// settings: a reload replaces them as a whole.
final class Routes: Sendable {
    private let handlers: ImageHandlers
    private let crossOrigin: CrossOriginPolicy
    private let status: StatusHandler
    private let srcset: SrcsetHandler
    /// Whether `/metrics` is served here, in addition to the admin listener.
    private let showsMetrics: Bool
    /// The page to try things out; nil where it is off.
    private let playground: PlaygroundHandler?
    /// The routes of the admin listener.
    let admin: AdminRoutes
    /// Answers other nodes; nil for a node of its own.
    private let cluster: ClusterHandler?
    /// What those that replace these take over.
    let pipeline: ImagePipeline
    let limit: ClientLimit

    init(
        handlers: ImageHandlers, crossOrigin: CrossOriginPolicy, status: StatusHandler, srcset: SrcsetHandler,
        showsMetrics: Bool, playground: PlaygroundHandler?, admin: AdminRoutes, cluster: ClusterHandler?,
        pipeline: ImagePipeline, limit: ClientLimit
    ) {
        self.cluster = cluster
        self.handlers = handlers
        self.crossOrigin = crossOrigin
        self.status = status
        self.srcset = srcset
        self.showsMetrics = showsMetrics
        self.playground = playground
        self.admin = admin
        self.pipeline = pipeline
        self.limit = limit
    }

    func answersAtOnce(_ request: HTTPRequest, with response: inout HTTPResponse) -> Bool {
        guard request.method == .get || request.method == .head else { return false }
        return handlers.answersAtOnce(request, with: &response)
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        if let answer = cluster?.answer(request) { return answer }
        let route = unsafe request.withTarget { unsafe Metric.Route(of: $0) }
        if Self.isForServer(request) {
            var response = CrossOriginPolicy.none.options(for: request, allow: Self.allowed)
            response.note = ExchangeNote(path: InlineText("*"))
            return .now(response)
        }
        if let handler = uploadHandler(of: request) { return .now(handler.refusal(of: request)) }
        if let handler = imageHandler(of: request) { return answer(request, by: handler, route) }
        if route == .other, let answer = playgroundAnswer(to: request) { return answer }
        guard route != .other, route != .metrics || showsMetrics else {
            return .now(Self.notFound(request, route))
        }
        guard request.method == .get || request.method == .head else { return .now(refused(request, route)) }
        switch route {
        case .srcset: return srcset.answer(request, isOperator: false)
        case .transforms:
            return .now(crossOrigin.withCORSFields(TransformsPage.answer(request), with: request))
        case .healthz: return .now(status.health)
        case .readyz: return .now(status.readiness())
        case .metrics:
            return .later(context: ExchangeContext(.metrics).packed) { [status] in
                await status.metrics(for: request)
            }
        default: return .now(Self.notFound(request, route))
        }
    }

    private func answer(
        _ request: HTTPRequest, by handler: ImageHandler, _ route: Metric.Route
    ) -> HTTPAnswer {
        guard request.method == .get || request.method == .head else {
            return .now(refused(request, route))
        }
        return handler.answer(request)
    }

    /// The answer to `OPTIONS`, and to methods that a path does not have.
    private func refused(_ request: HTTPRequest, _ route: Metric.Route) -> HTTPResponse {
        let allowed = bodyHandler(of: request) == nil ? Self.allowed : Self.allowed + ", POST"
        let context = ExchangeContext(route == .other ? .img : route)
        guard request.method == .options else {
            let mayBeAllowed = request.method == .post && (route == .img || route == .info)
            let hint =
                mayBeAllowed
                ? "POST brings a picture where security.allowUploads is true, or the URL is signed by a key of security.keys"
                : "PURGE, and DELETE of /cache, are for the listener of admin.listen"
            return ResponseMapping.methodNotAllowed(
                allowed, "allowed are \(allowed); \(hint)", context: context)
        }
        var response = crossOrigin.options(for: request, allow: allowed)
        response.context = context.packed
        return response
    }

    /// The page, one of its files, or what it requests; nil where the target is none of these.
    private func playgroundAnswer(to request: HTTPRequest) -> HTTPAnswer? {
        guard let playground,
            let answer = (playground.file(request) ?? playground.data(request, limit)).map({ .now($0) })
                ?? playground.documents.answer(request)
        else { return nil }
        let isRetrieval = request.method == .get || request.method == .head
        return isRetrieval ? answer : .now(refused(request, .playground))
    }

    // MARK: - Uploads

    /// The handler of a request that may bring a picture as its body; nil where none may.
    func uploadHandler(of request: HTTPRequest) -> ImageHandler? {
        request.method == .post ? bodyHandler(of: request) : nil
    }

    /// The handler of a path to which pictures may be sent.
    private func bodyHandler(of request: HTTPRequest) -> ImageHandler? {
        unsafe request.withTarget { unsafe handlers.bodyHandler(of: $0) }
    }

    /// Who takes the content of a request that may bring one.
    func contentReceiver(of request: HTTPRequest) -> (any HTTPContentReceiving)? {
        uploadHandler(of: request)?.contentReceiver(of: request)
    }

    /// Answers a request with the picture that it brings.
    func answer(_ request: HTTPRequest, with content: any HTTPContentReceiving) -> HTTPAnswer {
        // A reload may have come between head and content.
        guard let content = content as? UploadedContent, let handler = uploadHandler(of: request) else {
            return answer(request)
        }
        return handler.answer(request, with: content)
    }

    /// Hot path: the handler of a target that is about a picture.
    private func imageHandler(of request: HTTPRequest) -> ImageHandler? {
        unsafe request.withTarget { unsafe handlers.handler(of: $0) }
    }

    /// Whether a request is answered even when there are too many connections.
    static func isVital(_ request: HTTPRequest) -> Bool {
        switch unsafe request.withTarget({ unsafe Metric.Route(of: $0) }) {
        case .healthz, .readyz, .metrics: true
        default: false
        }
    }

    /// Whether `OPTIONS *` is requested, which concerns the server whatever the path (RFC 9110 §9.3.7).
    static func isForServer(_ request: HTTPRequest) -> Bool {
        guard request.method == .options else { return false }
        return unsafe request.withTarget { unsafe $0.elementsEqual("*".utf8) }
    }

    /// The route of a request, which other proxies' URLs have, too.
    func route(of request: HTTPRequest) -> Metric.Route {
        imageHandler(of: request)?.route ?? (unsafe request.withTarget { unsafe Metric.Route(of: $0) })
    }

    /// The methods of every route; some also take POST.
    private static let allowed = "GET, HEAD, OPTIONS"

    private static func notFound(_ request: HTTPRequest, _ route: Metric.Route = .other) -> HTTPResponse {
        let document = ProblemDocument.notFound.explained(
            route == .metrics
                ? "/metrics is on the admin listener (admin.listen) and on metrics.listen; metrics.public says when it is here"
                : AdminRoutes.has(request.target.prefix { $0 != "?" })
                    ? "this is on the admin listener (admin.listen): imageproxyd help lists the commands that ask it"
                    : "images are at /img?url=…, what is known of one at /info?url=…")
        var response = ResponseMapping.problem(document, context: ExchangeContext(.other))
        response.note = ExchangeNote(document, path: request.path)
        return response
    }
}
