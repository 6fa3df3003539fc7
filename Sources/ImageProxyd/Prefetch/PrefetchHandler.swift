// SPDX-License-Identifier: Apache-2.0

import Answering
internal import HTTPServer
import Observability
import Pipeline
import Primitives
import Request

/// Answers `/prefetch` and what is below it on the admin listener.
struct PrefetchHandler: Sendable {
    let service: PrefetchService
    let events: EventStreams
    /// Makes images under the same settings as the handler.
    let maker: PrefetchMaker
    /// `http.maxBodyBytes`.
    let serverLimit: Int

    /// Whether a content that the server refuses would be too long here, too: then its text must not name the setting.
    var isBounded: Bool { serverLimit >= PrefetchBody.maxBytes }

    /// What a path below `/prefetch` names.
    enum Path: Equatable {
        case orders
        case order(String)
        case events(String)

        /// Nil where there is nothing.
        init?(_ path: String) {
            let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard parts.count > 1, parts[0].isEmpty, parts[1] == "prefetch" else { return nil }
            let rest = Array(parts[2...])
            switch rest.count {
            case 0: self = .orders
            case 1 where !rest[0].isEmpty: self = .order(rest[0])
            case 2 where rest[1] == "events": self = .events(rest[0])
            default: return nil
            }
        }

        var methods: [HTTPMethod] {
            switch self {
            case .orders: [.get, .head, .post]
            case .order: [.get, .head, .post, .delete]
            case .events: [.get, .head]
            }
        }
    }

    /// Contents are read one at a time: a long one takes a core for a moment.
    private static let reading = IOQueue<PrefetchBody.Problem>(
        label: "prefetch contents", maxRunning: 1, maxWaiting: .max,
        overloaded: PrefetchBody.Problem(text: "too much waits"))

    /// Answers a request; `content` is that of a POST.
    func answer(
        _ path: Path, _ method: HTTPMethod, _ content: PrefetchContent?
    ) async throws(AdminFailure) -> HTTPResponse {
        switch path {
        case .orders where method == .post: return accepted(try service.submit(try await body(content)))
        case .orders: return AdminAnswer.json(list)
        case .order(let token) where method == .post:
            return accepted(try service.append(try await body(content), to: token))
        case .order(let token) where method == .delete:
            return AdminAnswer.json(try service.cancel(token).json)
        case .order(let token):
            guard let progress = service.progress(of: token) else { throw .unknownOrder }
            return AdminAnswer.json(progress.json)
        case .events(let token):
            guard let topic = service.topic(of: token) else { throw .unknownOrder }
            return try events.answer(with: topic)
        }
    }

    private func body(_ content: PrefetchContent?) async throws(AdminFailure) -> PrefetchBody {
        guard let bytes = try content?.take(), !bytes.isEmpty else {
            throw .invalidContent(#"the request has no content: JSON such as {"urls": ["https://…"]}"#)
        }
        do throws(PrefetchBody.Problem) {
            return try await Self.reading.run { () throws(PrefetchBody.Problem) in try PrefetchBody(bytes) }
        } catch {
            throw .invalidContent(error.text)
        }
    }

    private func accepted(_ progress: PrefetchProgress) -> HTTPResponse {
        var response = AdminAnswer.json(progress.json)
        response.status = HTTPStatus(202)
        response.fields.append(FieldName(literal: "Location"), text: "/prefetch/\(progress.token)")
        return response
    }

    private var list: JSONValue {
        let (present, ended) = service.all
        let waiting = service.waiting
        return [
            "running": .array(present.filter { $0.state == .running }.map(\.summary)),
            "waiting": .array(present.filter { $0.state == .waiting }.map(\.summary)),
            "history": .array(ended.map(\.summary)),
            "waitingImages": .integer(waiting.images), "waitingBytes": .integer(waiting.bytes),
        ]
    }
}
