// SPDX-License-Identifier: Apache-2.0

import Answering
import Cache
import Dialects
import Freshness
internal import HTTPServer
import Imaging
import Loading
import Observability
import Pipeline
import Primitives
import Request
import URLs

/// Answers `GET /explain?target=…`: what a request would meet, step by step, without asking the origin or making a picture.
struct ExplainHandler: Sendable {
    let handlers: ImageHandlers
    let pipeline: ImagePipeline
    /// Which addresses may be connected to.
    let addresses: AddressPolicy

    /// `target` (path and query), or `url` (a source); and `accept`, the field of the client.
    func explain(_ query: [UInt8]) async throws(AdminFailure) -> HTTPResponse {
        let query = try AdminQuery(query, names: ["target", "url", "accept"])
        guard (query["target"] == nil) != (query["url"] == nil) else {
            throw query["url"] == nil
                ? .request(.missingParameter("target"))
                : AdminQuery.invalid("url", "either target or url, not both")
        }
        let accept = query["accept"] ?? ""
        guard let target = query["target"] ?? dialectTarget(of: query["url"] ?? "") else {
            return await answer([("request", query["url"] ?? "")]) { () throws(PipelineError) in
                try handlers.images.read(source: query["url"] ?? "")
            }
        }
        let bytes = Array(target.utf8)
        if let offset = HTTPRequest.forbiddenByte(inTarget: bytes) {
            throw AdminQuery.invalid(
                "target", "byte \(offset) can't be in a request; it must be percent-encoded there")
        }
        guard let handler = unsafe bytes.withUnsafeBytes({ unsafe handlers.handler(of: $0) }) else {
            throw AdminQuery.invalid(
                "target", "is about no picture: /img?url=…, /info?url=…, or another proxy's URL")
        }
        var steps = [("request", target)]
        if let route = handler.dialectRoute { steps.append(("dialect", "\(type(of: route.dialect).name)")) }
        return await answer(steps) { () throws(PipelineError) in try handler.read(bytes, accept: accept) }
    }

    /// The target of a whole URL of this proxy that is in another proxy's form, as its path and options show; nil where it may
    /// as well be a source's.
    private func dialectTarget(of url: String) -> String? {
        guard let target = LoggedRequest(url: url)?.target,
            let handler = unsafe Array(target.utf8).withUnsafeBytes({ unsafe handlers.handler(of: $0) }),
            let route = handler.dialectRoute,
            let name = DialectGuess.dialect(of: String(target.dropFirst(route.prefix.count))),
            type(of: route.dialect).name == name
        else { return nil }
        return target
    }

    /// What is found out, one step after the other.
    private typealias Steps = [(name: String, text: String)]

    private func answer(
        _ first: Steps, reading: () throws(PipelineError) -> ImageRequest
    ) async -> HTTPResponse {
        let request: ImageRequest
        do throws(PipelineError) {
            request = try reading()
        } catch {
            let steps = first + [("answer", Self.text(of: error))]
            return AdminAnswer.json(Self.json(steps, of: .failed(error), details: .object([])))
        }
        var facts = await pipeline.explain(request)
        if case .fetched = facts.answer, let refusal = addressRefusal(facts.target) {
            facts.answer = .failed(refusal)
        }
        let now = pipeline.clock()
        let text = ExplanationText(facts: facts, now: now)
        let steps = first + text.steps
        return AdminAnswer.json(Self.json(steps, of: facts.answer, details: text.details))
    }

    /// Why the origin's address may not be connected to, where the URL names one.
    private func addressRefusal(_ target: SourceURL?) -> PipelineError? {
        guard let target else { return nil }
        if !addresses.allows(port: target.port) {
            return PipelineError(
                LoadError.addressForbidden("security.ports does not allow port \(target.port)"))
        }
        guard let address = target.literalAddress, !addresses.allows(address, port: target.port) else {
            return nil
        }
        return PipelineError(LoadError.forbiddenNetwork)
    }

    static func text(of error: PipelineError) -> String {
        "\(error.row.status) \(error.row.code): \(error.detail ?? error.row.title)"
    }

    private static func json(
        _ steps: Steps, of answer: ImageExplanation.Answer, details: JSONValue
    ) -> JSONValue {
        let status: Int
        if case .failed(let error) = answer { status = error.row.status } else { status = 200 }
        return [
            "answer": .string(answer.name), "status": .integer(status),
            "steps": .array(steps.map { ["step": .string($0.name), "text": .string($0.text)] }),
            "details": details,
        ]
    }
}

extension ImageExplanation.Answer {
    /// The answer in one word.
    var name: String {
        switch self {
        case .stored: "stored"
        case .rendered: "rendered"
        case .joined: "joined"
        case .revalidated: "revalidated"
        case .fetched: "fetched"
        case .failed: "failed"
        }
    }
}
