// SPDX-License-Identifier: Apache-2.0

import Answering
import Dialects
internal import HTTPServer
import Observability
import Pipeline
import Primitives
import Request

/// Answers what belongs to the playground on one listener: its files, what it needs to know of the settings, and
/// translations of other proxies' URLs.
struct PlaygroundHandler: Sendable {
    private let pages: WebPages
    let documents: DocumentPages
    private let facts: FixedAnswer
    private let translator: URLTranslator
    private let context: ExchangeContext

    /// The target of the facts about the settings.
    private static let factsTarget = Array("/playground/settings".utf8)
    private static let translatePath = Array("/translate".utf8)

    /// - Parameter isAdmin: whether it is for the admin listener.
    init(_ configuration: ProxyConfiguration, _ files: NamedFiles, isAdmin: Bool) {
        context = ExchangeContext(isAdmin ? .admin : .playground)
        pages = isAdmin ? .admin : .playground
        documents = DocumentPages(isAdmin: isAdmin)
        facts = FixedAnswer(
            Array((PlaygroundFacts.json(configuration, isAdmin: isAdmin).compact + "\n").utf8),
            type: "application/json", cacheControl: "no-cache")
        translator = URLTranslator(configured: files.dialects, usesSettings: isAdmin)
    }

    /// Its targets but for `/`, which other proxies' URLs may have.
    var targets: ReservedTargets {
        let targets = pages.targets.union(DocumentPages.targets).union([Self.factsTarget])
        return ReservedTargets(targets.subtracting([[UInt8(ascii: "/")]]), withQuery: Self.translatePath)
    }

    /// A file, which holds no secret; nil where the target names none.
    func file(_ request: HTTPRequest) -> HTTPResponse? {
        pages.answer(request, unsafe request.withTarget { unsafe Array($0) }, as: context)
    }

    /// What the page requests besides pictures; nil where the target is none of that.
    /// - Parameter limit: the clients' rate; nil for operators.
    func data(_ request: HTTPRequest, _ limit: ClientLimit?) -> HTTPResponse? {
        let target = unsafe request.withTarget { unsafe Array($0) }
        if target == Self.factsTarget { return facts.answer(to: request, as: context) }
        let (path, mark) = (Self.translatePath, UInt8(ascii: "?"))
        guard target == path || target.starts(with: path + [mark]) else { return nil }
        do throws(PipelineError) {
            try limit?.check(request)
        } catch {
            var response = ResponseMapping.problem(ProblemDocument(error), context: context)
            if let seconds = error.retryAfter { response.fields.append(.retryAfter, text: "\(seconds)") }
            return response
        }
        return translation(Array(target.dropFirst(path.count + 1)))
    }

    /// `GET /translate?url=…&dialect=…`: asks no origin.
    private func translation(_ query: [UInt8]) -> HTTPResponse {
        do throws(AdminFailure) {
            let query = try AdminQuery(query, names: ["url", "dialect"])
            guard let url = query["url"] else { throw .request(.missingParameter("url")) }
            var response = AdminAnswer.json(
                try translator.translate(url, dialect: query["dialect"])?.json ?? URLTranslator.none)
            response.context = context.packed
            return response
        } catch {
            var response = error.response
            response.context = context.packed
            return response
        }
    }
}
