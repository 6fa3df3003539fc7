// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import HTTPServer

/// Answers `/name` with the file of that name in one folder: the smallest useful origin, and an example of the server.
final class FolderOrigin: RequestHandling {
    /// The folder, without a slash at its end.
    private let folder: String

    init(folder: String) {
        self.folder = folder
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        guard request.method == .get || request.method == .head else {
            return .now(HTTPResponse(status: HTTPStatus(405)))
        }
        // Opening a file may wait for the disk, and all clients of this loop with it; a demonstration can
        // afford that.
        return .now(file(named: request.target) ?? HTTPResponse(status: .notFound))
    }

    func didFinish(_ exchange: HTTPExchange) {}

    /// Only plain names: letters, digits, `-`, `_` and a dot that is not the first.
    private func file(named target: String) -> HTTPResponse? {
        let name = target.prefix { $0 != "?" }.dropFirst()
        guard let first = name.first, first != ".",
            name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) })
        else { return nil }
        return OpenFile(path: "\(folder)/\(name)").map { Self.response($0, type: Self.mediaType(of: name)) }
    }

    private static func response(_ file: OpenFile, type: String) -> HTTPResponse {
        var response = HTTPResponse(status: .ok)
        let tag = "\"\(file.modified)-\(file.length)\""
        for (name, text) in [
            (FieldName.contentType, type), (.cacheControl, "max-age=86400"), (.etag, tag),
        ] {
            if let value = FieldValue(text) { response.fields.append(name, value) }
        }
        response.body = .file(descriptor: file.descriptor, offset: 0, length: file.length, owner: file)
        return response
    }

    private static func mediaType(of name: some StringProtocol) -> String {
        switch name.split(separator: ".").last {
        case "jpg": "image/jpeg"
        case "png": "image/png"
        case "webp": "image/webp"
        case "gif": "image/gif"
        case "html": "text/html; charset=utf-8"
        default: "application/octet-stream"
        }
    }
}

/// An open regular file, closed with its last answer.
final class OpenFile: Sendable {
    let descriptor: CInt
    let length: Int64
    /// Seconds since 1970.
    let modified: Int

    /// Nil when there is no such file.
    init?(path: String) {
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        length = Int64(facts.st_size)
        modified = facts.st_mtim.tv_sec
    }

    deinit {
        close(descriptor)
    }
}
