// SPDX-License-Identifier: Apache-2.0

import Cache
internal import HTTPServer
import Observability
import Pipeline
import Request

/// The admin listener's table of routes, in addition to health and metrics.
struct AdminRoutes {
    let access: AdminAccess
    let cache: CacheHandler
    let failed: FailedHandler
    let status: StatusHandler
    /// For pictures that operators send.
    let images: ImageHandler

    private enum Path: String, CaseIterable {
        case cache = "/cache"
        case failed = "/failed"
        case image = "/img"
        case health = "/healthz"
        case readiness = "/readyz"
        case metrics = "/metrics"

        var methods: [HTTPMethod] {
            switch self {
            case .cache, .failed: [.get, .head, .delete]
            case .image: [.purge, .post]
            case .health, .readiness, .metrics: [.get, .head]
            }
        }

        var allowed: String { (methods + [.options]).map(\.rawValue).joined(separator: ", ") }
    }

    /// Answers, and has the path logged.
    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        let path = unsafe request.withTarget { unsafe InlineText($0, upTo: UInt8(ascii: "?")) }
        @Sendable func note(of response: HTTPResponse) -> ExchangeNote {
            (response.note as? ExchangeNote)?.at(path) ?? ExchangeNote(path: path)
        }
        switch routed(request) {
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

    /// Whether a request may bring a picture.
    func mayUpload(_ request: HTTPRequest) -> Bool {
        let path = request.target.prefix { $0 != "?" }
        return request.method == .post && path == Path.image.rawValue && access.refusal(of: request) == nil
    }

    /// Answers a request with the picture that it brings.
    func answer(_ request: HTTPRequest, with content: any HTTPContentReceiving) -> HTTPAnswer {
        // A reload may have come between head and content.
        guard let content = content as? UploadedContent, mayUpload(request) else { return answer(request) }
        return images.answer(request, with: content, isOperator: true)
    }

    private func routed(_ request: HTTPRequest) -> HTTPAnswer {
        if Routes.isForServer(request) {
            return .now(SharingPolicy.none.options(for: request, allow: Self.allowed))
        }
        let target = request.target
        let name = target.prefix { $0 != "?" }
        guard let path = Path(rawValue: String(name)) else { return .now(Self.notFound) }
        guard request.method != .options else { return .now(Self.options(path.allowed)) }
        guard path.methods.contains(request.method) else { return .now(Self.methodNotAllowed(path.allowed)) }
        switch path {
        case .health: return .now(status.health)
        case .readiness: return .now(status.readiness())
        case .cache, .failed, .image, .metrics: break
        }
        if let refusal = access.refusal(of: request) { return .now(refusal) }
        // With a body it is answered below.
        if path == .image, request.method == .post {
            return .now(images.refusal(of: request, isOperator: true))
        }
        let query = target.utf8.dropFirst(name.utf8.count + 1)
        return .later(context: ExchangeContext(.admin).packed) {
            await answer(path, request, Array(query))
        }
    }

    private func answer(_ path: Path, _ request: HTTPRequest, _ query: [UInt8]) async -> HTTPResponse {
        do throws(AdminFailure) {
            switch path {
            case .cache where request.method == .delete: return try await cache.purge(query)
            case .cache: return try await cache.list(query)
            case .image: return try await cache.purgeImage(query)
            case .failed where request.method == .delete: return try failed.clear(query)
            case .failed: return try failed.list(query)
            case .metrics: return status.metrics(for: request)
            case .health, .readiness: return status.health
            }
        } catch {
            return error.response
        }
    }

    /// The methods of all paths together.
    private static let allowed = "GET, HEAD, POST, DELETE, PURGE, OPTIONS"

    private static let notFound = ResponseMapping.problem(
        ProblemDocument(
            status: 404, code: "not_found", title: "There is nothing at this path",
            detail: "here are " + Path.allCases.map(\.rawValue).joined(separator: ", ")),
        context: ExchangeContext(.admin))

    /// The methods that are allowed at a path (RFC 9110 §9.3.7).
    private static func options(_ allowed: String) -> HTTPResponse {
        var response = HTTPResponse(status: .noContent)
        response.fields.append(.allow, text: allowed)
        response.context = ExchangeContext(.admin).packed
        return response
    }

    private static func methodNotAllowed(_ allowed: String) -> HTTPResponse {
        var response = ResponseMapping.problem(
            ProblemDocument(
                status: 405, code: "method_not_allowed", title: "The method is not allowed here",
                detail: "allowed are \(allowed)"),
            context: ExchangeContext(.admin))
        response.fields.append(.allow, text: allowed)
        return response
    }
}

/// Why an operator's request failed.
enum AdminFailure: Error {
    /// Nothing says what is to be purged.
    case nothingToPurge
    /// A parameter is missing or wrong.
    case request(ImageRequestError)
    /// The disk tier failed.
    case disk(DiskCacheError)

    /// As a problem document.
    var response: HTTPResponse {
        let context = ExchangeContext(.admin)
        switch self {
        case .nothingToPurge:
            var document = ProblemDocument(PipelineError(.missingParameter("url")))
            document.detail = "one of url, url64, key, tag and all=1 is required"
            return ResponseMapping.problem(document, context: context)
        case .request(let error):
            return ResponseMapping.problem(ProblemDocument(PipelineError(error)), context: context)
        case .disk(let error):
            return ResponseMapping.problem(
                ProblemDocument(
                    status: 503, code: "cache_failed", title: "The disk tier could not do it",
                    detail: "\(error)"),
                context: context)
        }
    }
}
