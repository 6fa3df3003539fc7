// SPDX-License-Identifier: Apache-2.0

import Answering
import Documents
internal import HTTPServer
import Observability
import WebAssets

/// Answers the documentation below `/docs/`, which is rendered with the first request for it.
struct DocumentPages: Sendable {
    /// The label of its requests: the public listener's, or the admin listener's.
    private let isAdmin: Bool

    /// - Parameter isAdmin: whether they are for the admin listener.
    init(isAdmin: Bool) { self.isAdmin = isAdmin }

    /// Whether a target names a page or a file of the documentation. Others below `/docs/` may be another proxy's URLs.
    private func has(_ target: UnsafeRawBufferPointer) -> Bool {
        guard unsafe target.starts(with: Self.root), target.count <= Self.maxTargetBytes else { return false }
        return unsafe Self.targets.contains(Array(target))
    }

    /// The answer to GET or HEAD; nil where the target is none of its own.
    func answer(_ request: HTTPRequest) -> HTTPAnswer? {
        guard unsafe request.withTarget({ unsafe has($0) }) else { return nil }
        let context = ExchangeContext(isAdmin ? .admin : .playground)
        guard request.target != "/docs" else { return .now(Self.redirect(context)) }
        let target = Array(request.target.utf8)
        return .later(context: context.packed) {
            guard let answer = await Self.answers.value[target] else {
                fatalError("\(request.target) is in the table of targets")
            }
            return answer.answer(to: request, as: context)
        }
    }

    /// The documentation as a static site.
    /// - Parameter home: the link from its root to the playground; nil if there is none.
    static func site(home: String?) -> Site {
        let assets = WebPages.files.filter { $0.key.hasPrefix("docs/") }
        return Site(
            documents,
            assets: assets.map { RepositoryFile(path: String($0.key.dropFirst(5)), bytes: $0.value) },
            home: home)
    }

    /// The Markdown of the repository, and the files that it links to.
    static let documents = (0..<document_count()).map { index in
        // Safe because the table's index is in range, and what it points to is constant.
        let document = unsafe document_at(index)
        return unsafe RepositoryFile(
            path: String(cString: document.path),
            bytes: Array(UnsafeBufferPointer(start: document.bytes, count: document.length)))
    }

    private static let root = Array("/docs".utf8)
    /// The maximum length of a target of a page, in bytes: longer ones are not looked up.
    private static let maxTargetBytes = 64

    /// Every target, which are known before anything is rendered.
    static let targets: Set<[UInt8]> = {
        let paths = documents.map(\.sitePath) + ["search.js", "docs.css", "docs.js", "icon.svg"]
        return Set(paths.flatMap(targets) + [root])
    }()

    /// The targets of a file of the site; a folder's page is also there without its name.
    private static func targets(of path: String) -> [[UInt8]] {
        let target = "/docs/" + path
        let folder = target.hasSuffix("/index.html") ? [target.dropLast("index.html".count)] : []
        return ([target[...]] + folder).map { Array($0.utf8) }
    }

    // MARK: - Answers

    /// The first request renders, in some tens of milliseconds; all others wait for that or find it done.
    private static let answers = Task {
        var answers: [[UInt8]: FixedAnswer] = [:]
        for (path, bytes) in site(home: "../playground").files {
            let isDrawing = path.hasSuffix(".svg")
            let answer = FixedAnswer(
                bytes, type: type(of: path), cacheControl: "no-cache",
                fields: WebPages.protection(isDrawing ? drawingPolicy : WebPages.contentSecurityPolicy))
            for target in targets(of: path) { answers[target] = answer }
        }
        return answers
    }

    /// A drawing has a style of its own, and loads nothing.
    private static let drawingPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

    private static func type(of path: String) -> String {
        WebPages.types[path.split(separator: ".").last.map(String.init) ?? ""] ?? "text/plain; charset=utf-8"
    }

    /// Links of the site are relative to its folder.
    private static func redirect(_ context: ExchangeContext) -> HTTPResponse {
        var response = HTTPResponse(status: HTTPStatus(308))
        response.fields.append(FieldName(literal: "Location"), text: "docs/")
        response.fields.append(.cacheControl, text: "no-cache")
        response.context = context.packed
        return response
    }
}
