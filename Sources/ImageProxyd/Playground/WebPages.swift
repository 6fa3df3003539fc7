// SPDX-License-Identifier: Apache-2.0

import Answering
internal import HTTPServer
import WebAssets

/// The pages that are part of the program, with their scripts and styles, by the targets that name them.
struct WebPages: Sendable {
    private let answers: [[UInt8]: FixedAnswer]

    /// - Parameters:
    ///   - folders: those below `Sources/WebAssets/files` whose files are answered at their paths.
    ///   - pages: further targets, with the paths of the files that are answered there.
    init(folders: Set<String>, pages: [String: String]) {
        var answers: [[UInt8]: FixedAnswer] = [:]
        for (path, bytes) in Self.files where folders.contains(String(path.prefix { $0 != "/" })) {
            answers[Array("/\(path)".utf8)] = Self.answer(path, bytes)
        }
        for (target, path) in pages {
            answers[Array(target.utf8)] = answers[Array("/\(path)".utf8)]
        }
        self.answers = answers
    }

    /// All files by their paths below `Sources/WebAssets/files`.
    static let files = Dictionary(
        uniqueKeysWithValues: (0..<web_asset_count()).map { index in
            // Safe because the table's index is in range, and what it points to is constant.
            let asset = unsafe web_asset_at(index)
            return unsafe (
                String(cString: asset.path),
                Array(UnsafeBufferPointer(start: asset.bytes, count: asset.length))
            )
        })

    /// The targets that name them.
    var targets: Set<[UInt8]> { Set(answers.keys) }

    /// The answer to GET or HEAD; nil where the target names none of them.
    func answer(_ request: HTTPRequest, _ target: [UInt8], as context: ExchangeContext) -> HTTPResponse? {
        target.count <= Self.maxTargetBytes ? answers[target]?.answer(to: request, as: context) : nil
    }

    /// The maximum length of a target of a page, in bytes: longer ones are not looked up.
    private static let maxTargetBytes = 64

    private static func answer(_ path: String, _ bytes: [UInt8]) -> FixedAnswer {
        let fileExtension = path.split(separator: ".").last.map(String.init) ?? ""
        // A new version of the program has new files at the same paths, so a browser asks each time.
        return FixedAnswer(
            bytes, type: types[fileExtension] ?? "application/octet-stream", cacheControl: "no-cache",
            fields: protection(contentSecurityPolicy))
    }

    /// The media types of files by their extensions.
    static let types = [
        "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "css": "text/css; charset=utf-8", "svg": "image/svg+xml", "webp": "image/webp", "png": "image/png",
        "json": "application/json",
    ]

    /// Nothing but what this listener sends is loaded or asked, and no other page shows these ones.
    static let contentSecurityPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    /// What keeps other pages away from one of these.
    static func protection(_ contentSecurityPolicy: String) -> HTTPFields {
        var fields = HTTPFields()
        fields.append(.contentSecurityPolicy, text: contentSecurityPolicy)
        fields.append(FieldName(literal: "Referrer-Policy"), text: "no-referrer")
        fields.append(.crossOriginResourcePolicy, text: "same-origin")
        fields.append(FieldName(literal: "Cross-Origin-Opener-Policy"), text: "same-origin")
        return fields
    }
}

extension WebPages {
    /// The playground, for every listener.
    static let playground = WebPages(
        folders: ["playground"],
        pages: ["/": "playground/index.html", "/playground": "playground/index.html"])

    /// The pages of the admin listener.
    static let admin = WebPages(
        folders: ["playground", "stats"],
        pages: [
            "/": "playground/index.html", "/playground": "playground/index.html",
            "/stats": "stats/index.html",
        ])
}
