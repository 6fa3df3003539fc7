// SPDX-License-Identifier: Apache-2.0

import Cache
internal import HTTPServer
import Pipeline

/// Answers `/failed`: lists and clears the blacklist (SDWebImage: removeFailedURL).
struct FailedHandler: Sendable {
    let pipeline: ImagePipeline

    /// The maximum number of failures in one answer.
    private static let maxListed = 10_000

    /// `GET /failed[?url=…]`.
    func list(_ query: [UInt8]) throws(AdminFailure) -> HTTPResponse {
        let source = try AdminQuery(query, names: ["url", "url64"]).source()
        let failures = pipeline.failed(of: source, limit: Self.maxListed + 1)
        let now = pipeline.clock()
        let items = failures.prefix(Self.maxListed).map { failure in
            JSONValue.object([
                .init(name: "url", value: .string(failure.text)),
                .init(name: "key", value: .string("\(failure.key)")),
                .init(name: "code", value: .string(failure.failure.row.code)),
                .init(name: "class", value: .string(failure.failureClass.rawValue)),
                .init(name: "remaining", value: .integer(Int(max(1, failure.end - now)))),
            ])
        }
        return AdminAnswer.json([
            ("failed", .array(Array(items))), ("cut", .bool(failures.count > Self.maxListed)),
        ])
    }

    /// `DELETE /failed[?url=…]`.
    func clear(_ query: [UInt8]) throws(AdminFailure) -> HTTPResponse {
        let source = try AdminQuery(query, names: ["url", "url64"]).source()
        return AdminAnswer.json([("failures", .integer(pipeline.forgetFailures(of: source)))])
    }
}
