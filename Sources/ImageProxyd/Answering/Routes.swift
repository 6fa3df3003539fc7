// SPDX-License-Identifier: Apache-2.0

import Dialects
internal import HTTPServer
import Observability
import Pipeline
import Request

/// The table of routes: which handler answers which path. All handlers are made from one version of the
/// settings: a reload replaces them as a whole.
final class Routes: Sendable {
    private let images: ImageHandler
    /// The same for facts about images.
    private let information: ImageHandler
    /// Those for other proxies' URLs, the longest path first; ours come before them, but for `PathForm`.
    private let foreign: [ImageHandler]
    private let sharing: SharingPolicy
    private let status: StatusHandler
    /// Whether `/metrics` is served here, in addition to the admin listener.
    private let showsMetrics: Bool
    /// The routes of the admin listener.
    let admin: AdminRoutes
    /// What those that replace these take over.
    let pipeline: ImagePipeline
    let limit: ClientLimit

    init(
        images: ImageHandler, information: ImageHandler,
        foreign: [ImageHandler] = [], sharing: SharingPolicy,
        status: StatusHandler, showsMetrics: Bool, admin: AdminRoutes, pipeline: ImagePipeline,
        limit: ClientLimit
    ) {
        self.images = images
        func prefix(_ handler: ImageHandler) -> [UInt8] { handler.foreign?.prefix ?? [] }
        let other = foreign.first { prefix($0).isEmpty && $0.foreign?.dialect.answersInformation == true }
        self.information = other ?? information
        self.foreign = foreign.sorted { prefix($0).count > prefix($1).count }
        self.sharing = sharing
        self.status = status
        self.showsMetrics = showsMetrics
        self.admin = admin
        self.pipeline = pipeline
        self.limit = limit
    }

    /// The routes by their paths, the most frequent first.
    private static let table: [(path: [UInt8], route: Metric.Route)] = [
        (Array("/img".utf8), .img), (Array("/healthz".utf8), .healthz), (Array("/readyz".utf8), .readyz),
        (Array("/metrics".utf8), .metrics), (Array("/info".utf8), .info),
        (Array("/transforms".utf8), .transforms),
    ]

    func answersAtOnce(_ request: HTTPRequest, with response: inout HTTPResponse) -> Bool {
        guard request.method == .get || request.method == .head else { return false }
        return imageHandler(of: request)?.answersAtOnce(request, with: &response) ?? false
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        let route = unsafe request.withTarget { unsafe Self.route(of: $0) }
        if Self.isForServer(request) {
            var response = SharingPolicy.none.options(for: request, allow: Self.allowed)
            response.note = ExchangeNote(path: InlineText("*"))
            return .now(response)
        }
        if let handler = uploadHandler(of: request) { return .now(handler.refusal(of: request)) }
        if let handler = imageHandler(of: request) { return answer(request, by: handler, route) }
        guard route != .other, route != .metrics || showsMetrics else {
            return .now(Self.notFound(request, route))
        }
        guard request.method == .get || request.method == .head else { return .now(refused(request, route)) }
        switch route {
        case .transforms: return .now(sharing.shared(TransformsPage.answer(request), with: request))
        case .healthz: return .now(status.health)
        case .readyz: return .now(status.readiness())
        default:
            return .later(context: ExchangeContext(.metrics).packed) { [status] in
                status.metrics(for: request)
            }
        }
    }

    private func answer(
        _ request: HTTPRequest, by handler: ImageHandler, _ route: Metric.Route
    ) -> HTTPAnswer {
        guard request.method == .get || request.method == .head else {
            return .now(refused(request, route == .other ? .img : route))
        }
        return handler.answer(request)
    }

    /// The answer to `OPTIONS`, and to methods that a path does not have.
    private func refused(_ request: HTTPRequest, _ route: Metric.Route) -> HTTPResponse {
        let allowed = bodyHandler(of: request) == nil ? Self.allowed : Self.allowed + ", POST"
        guard request.method == .options else { return Self.methodNotAllowed(route, allowed) }
        var response = sharing.options(for: request, allow: allowed)
        response.context = ExchangeContext(route).packed
        return response
    }

    // MARK: - Uploads

    /// The handler of a request that may bring a picture as its body; nil where none may.
    func uploadHandler(of request: HTTPRequest) -> ImageHandler? {
        request.method == .post ? bodyHandler(of: request) : nil
    }

    /// The handler of a path to which pictures may be sent. In the path form a source is named.
    private func bodyHandler(of request: HTTPRequest) -> ImageHandler? {
        let handler =
            unsafe request.withTarget { unsafe Self.isPathForm($0) }
            ? foreignHandler(of: request) : imageHandler(of: request)
        return handler.flatMap { $0.takesUploads ? $0 : nil }
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
        switch unsafe request.withTarget({ unsafe Self.route(of: $0) }) {
        case .img: images
        case .info: information
        case .other:
            foreignHandler(of: request)
                ?? (unsafe request.withTarget { unsafe Self.isPathForm($0) } ? images : nil)
        default: nil
        }
    }

    /// Hot path: whether parameters stand in the path.
    private static func isPathForm(_ target: UnsafeRawBufferPointer) -> Bool {
        unsafe target.starts(with: PathForm.prefix)
    }

    /// Hot path: the handler of another proxy's URLs whose path fits.
    private func foreignHandler(of request: HTTPRequest) -> ImageHandler? {
        guard !foreign.isEmpty else { return nil }
        return unsafe request.withTarget { target in
            foreign.first { unsafe $0.foreign?.leads(to: target) == true }
        }
    }

    /// Whether a request is answered even when there are too many connections.
    static func isVital(_ request: HTTPRequest) -> Bool {
        switch unsafe request.withTarget({ unsafe Self.route(of: $0) }) {
        case .healthz, .readyz, .metrics: true
        default: false
        }
    }

    /// Whether `OPTIONS *` is requested, which concerns the server whatever the path (RFC 9110 §9.3.7).
    static func isForServer(_ request: HTTPRequest) -> Bool {
        guard request.method == .options else { return false }
        return unsafe request.withTarget { unsafe $0.elementsEqual("*".utf8) }
    }

    /// Hot path: the route of a target: its path, up to the query.
    static func route(of target: UnsafeRawBufferPointer) -> Metric.Route {
        for (path, route) in table where unsafe has(path, target) { return route }
        return .other
    }

    private static func has(_ path: [UInt8], _ target: UnsafeRawBufferPointer) -> Bool {
        guard target.count >= path.count else { return false }
        if target.count > path.count, unsafe target[path.count] != UInt8(ascii: "?") { return false }
        for index in path.indices where unsafe target[index] != path[index] { return false }
        return true
    }

    /// The methods of every route; some also take POST.
    private static let allowed = "GET, HEAD, OPTIONS"

    private static func notFound(_ request: HTTPRequest, _ route: Metric.Route = .other) -> HTTPResponse {
        let document = ProblemDocument(
            status: 404, code: "not_found", title: "There is nothing at this path",
            detail: route == .metrics
                ? "/metrics is on the admin listener (admin.listen) once that has an address, or others than local clients are served"
                : "images are at /img?url=…, what is known of one at /info?url=…")
        var response = ResponseMapping.problem(document, context: ExchangeContext(.other))
        response.note = ExchangeNote(
            document,
            path: unsafe request.withTarget { unsafe InlineText($0, upTo: UInt8(ascii: "?")) })
        return response
    }

    private static func methodNotAllowed(_ route: Metric.Route, _ allowed: String) -> HTTPResponse {
        var response = ResponseMapping.problem(
            ProblemDocument(
                status: 405, code: "method_not_allowed", title: "The method is not allowed here",
                detail: "allowed are \(allowed); DELETE and PURGE are for the listener of admin.listen"),
            context: ExchangeContext(route))
        response.fields.append(.allow, text: allowed)
        return response
    }
}
