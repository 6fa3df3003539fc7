// SPDX-License-Identifier: Apache-2.0

import Answering
import Cache
internal import HTTPServer
import Observability
import Pipeline
import Request

/// The admin listener's table of routes, in addition to health and metrics.
struct AdminRoutes {
    let access: AdminAccess
    let cache: CacheHandler
    let explain: ExplainHandler
    let failed: FailedHandler
    let status: StatusHandler
    /// For pictures that operators send, and for facts about them.
    let images: ImageHandler
    let information: ImageHandler
    let srcset: SrcsetHandler
    let playground: PlaygroundHandler
    let sign: SignHandler
    let events: EventStreams
    /// What the live view shows.
    let stats: StatsTopic
    let prefetch: PrefetchHandler

    private enum Path: String, CaseIterable {
        case cache = "/cache"
        case cacheVerification = "/cache/verify"
        case explain = "/explain"
        case failed = "/failed"
        case image = "/img"
        case information = "/info"
        case health = "/healthz"
        case readiness = "/readyz"
        case metrics = "/metrics"
        case prefetch = "/prefetch"
        case sign = "/sign"
        case srcset = "/srcset"
        case stats = "/stats/events"
        case transforms = "/transforms"

        var methods: [HTTPMethod] {
            switch self {
            case .cache, .failed: [.get, .head, .delete]
            case .image: [.get, .head, .purge, .post]
            case .information: [.get, .head, .post]
            case .cacheVerification, .sign: [.post]
            case .prefetch: PrefetchHandler.Path.orders.methods
            case .explain, .health, .readiness, .metrics, .srcset, .stats, .transforms: [.get, .head]
            }
        }
    }

    /// Whether a path is one of these.
    static func has(_ path: some StringProtocol) -> Bool { Path(rawValue: String(path)) != nil }

    /// Answers, and has the path logged.
    func answer(_ request: HTTPRequest) -> HTTPAnswer { noted(request, routed(request)) }

    private func noted(_ request: HTTPRequest, _ answer: HTTPAnswer) -> HTTPAnswer {
        let path = request.path
        @Sendable func note(of response: HTTPResponse) -> ExchangeNote {
            (response.note as? ExchangeNote)?.at(path) ?? ExchangeNote(path: path)
        }
        switch answer {
        case .now(var response):
            response.note = note(of: response)
            return .now(response)
        case .later(let context, _, let work):
            return .later(context: context, note: ExchangeNote(path: path)) {
                var response = await work()
                response.note = note(of: response)
                return response
            }
        }
    }

    /// Whether a request may bring a picture, or what is to be prefetched.
    func mayUpload(_ request: HTTPRequest) -> Bool {
        (uploadHandler(of: request) != nil || takesOrder(request)) && access.refusal(of: request) == nil
    }

    /// Who takes the content of such a request.
    func contentReceiver(of request: HTTPRequest) -> any HTTPContentReceiving {
        takesOrder(request) ? PrefetchContent() : images.contentReceiver(of: request)
    }

    /// Whether a request brings what is to be prefetched.
    func takesOrder(_ request: HTTPRequest) -> Bool {
        request.method == .post && prefetchPath(of: request)?.methods.contains(.post) == true
    }

    private func prefetchPath(of request: HTTPRequest) -> PrefetchHandler.Path? {
        PrefetchHandler.Path(String(request.target.prefix { $0 != "?" }))
    }

    private func uploadHandler(of request: HTTPRequest) -> ImageHandler? {
        guard request.method == .post else { return nil }
        switch Path(rawValue: String(request.target.prefix { $0 != "?" })) {
        case .image: return images
        case .information: return information
        default: return nil
        }
    }

    /// Answers a request with the picture that it brings.
    func answer(_ request: HTTPRequest, with content: any HTTPContentReceiving) -> HTTPAnswer {
        if let content = content as? PrefetchContent { return noted(request, routed(request, content)) }
        // A reload may have come between head and content.
        guard let content = content as? UploadedContent, mayUpload(request),
            let handler = uploadHandler(of: request)
        else { return answer(request) }
        return handler.answer(request, with: content, isOperator: true)
    }

    private func routed(_ request: HTTPRequest, _ content: PrefetchContent? = nil) -> HTTPAnswer {
        if Routes.isForServer(request) {
            return .now(CrossOriginPolicy.none.options(for: request, allow: Self.allowed))
        }
        let target = request.target
        let name = target.prefix { $0 != "?" }
        let order = prefetchPath(of: request)
        guard let path = order == nil ? Path(rawValue: String(name)) : .prefetch else { return page(request) }
        let methods = order?.methods ?? path.methods
        let allowed = (methods + [.options]).map(\.rawValue).joined(separator: ", ")
        guard request.method != .options else { return .now(Self.options(allowed)) }
        guard methods.contains(request.method) else { return .now(Self.methodNotAllowed(allowed)) }
        switch path {
        case .health: return .now(status.health)
        case .readiness: return .now(status.readiness())
        case .transforms: return .now(TransformsPage.answer(request))
        case .cache, .cacheVerification, .explain, .failed, .image, .information, .metrics, .prefetch, .sign,
            .srcset, .stats:
            break
        }
        if let refusal = access.refusal(of: request) { return .now(refusal) }
        if request.method == .get || request.method == .head {
            if path == .image { return images.answer(request) }
            if path == .information { return information.answer(request) }
            if path == .srcset { return srcset.answer(request, isOperator: true) }
        }
        // With a body it is answered below.
        if let handler = uploadHandler(of: request) {
            return .now(handler.refusal(of: request, isOperator: true))
        }
        let query = target.utf8.dropFirst(name.utf8.count + 1)
        return .later(context: ExchangeContext(.admin).packed) {
            do throws(AdminFailure) {
                guard let order else { return try await answer(path, request, Array(query), allowed) }
                return try await prefetch.answer(order, request.method, content)
            } catch {
                return error.response
            }
        }
    }

    /// A page, one of its files, or what it requests. Files hold no secret, so they need no token.
    private func page(_ request: HTTPRequest) -> HTTPAnswer {
        let file = playground.file(request).map { HTTPAnswer.now($0) } ?? playground.documents.answer(request)
        guard let answer = file ?? playground.data(request, nil).map({ .now($0) }) else {
            return .now(Self.notFound)
        }
        if request.method == .options { return .now(Self.options("GET, HEAD, OPTIONS")) }
        guard request.method == .get || request.method == .head else {
            return .now(Self.methodNotAllowed("GET, HEAD, OPTIONS"))
        }
        return file == nil ? access.refusal(of: request).map { .now($0) } ?? answer : answer
    }

    private func answer(
        _ path: Path, _ request: HTTPRequest, _ query: [UInt8], _ allowed: String
    ) async throws(AdminFailure) -> HTTPResponse {
        switch path {
        case .cache where request.method == .delete: try await cache.purge(query)
        case .cache: try await cache.answer(query)
        case .cacheVerification: try await cache.verify(query)
        case .explain: try await explain.explain(query)
        case .image: try await cache.purgeImage(query)
        case .failed where request.method == .delete: try failed.clear(query)
        case .failed: try failed.list(query)
        case .metrics: await status.metrics(for: request)
        case .sign: try sign.sign(query)
        case .stats: try events.answer(with: stats)
        case .information, .prefetch, .srcset, .transforms: Self.methodNotAllowed(allowed)
        case .health, .readiness: status.health
        }
    }

    /// The methods of all paths together.
    private static let allowed = "GET, HEAD, POST, DELETE, PURGE, OPTIONS"

    private static let notFound = ResponseMapping.problem(
        .notFound.explained("here are " + Path.allCases.map(\.rawValue).joined(separator: ", ")),
        context: ExchangeContext(.admin))

    /// The methods that are allowed at a path (RFC 9110 §9.3.7).
    private static func options(_ allowed: String) -> HTTPResponse {
        var response = HTTPResponse(status: .noContent)
        response.fields.append(.allow, text: allowed)
        response.context = ExchangeContext(.admin).packed
        return response
    }

    private static func methodNotAllowed(_ allowed: String) -> HTTPResponse {
        ResponseMapping.methodNotAllowed(allowed, context: ExchangeContext(.admin))
    }
}
