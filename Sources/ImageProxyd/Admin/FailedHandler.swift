// SPDX-License-Identifier: Apache-2.0

import Cache
internal import HTTPServer
import Pipeline
import Primitives
import URLs

/// Answers `/failed`: lists and clears the remembered failures (SDWebImage: removeFailedURL).
struct FailedHandler: Sendable {
    let pipeline: ImagePipeline

    /// The maximum number of failures in one answer.
    private static let maxListed = 10_000

    /// `GET /failed[?url=…]`.
    func list(_ query: [UInt8]) throws(AdminFailure) -> HTTPResponse {
        let source = try AdminQuery(query, names: ["url", "url64"]).source(pipeline.buckets)
        let now = pipeline.clock().seconds
        let failures = pipeline.failures.list(
            source: source.map(pipeline.key(of:)), limit: Self.maxListed + 1, at: now)
        let items = failures.prefix(Self.maxListed).map { (failure) -> JSONValue in
            [
                "url": .string(failure.text),
                "key": .string("\(failure.key)"),
                "code": .string(failure.failure.row.code),
                "class": .string(failure.failureClass.rawValue),
                "remaining": .integer(Int(max(1, failure.end - now))),
            ]
        }
        var answer: JSONValue = [
            "failed": .array(items), "cut": .bool(failures.count > Self.maxListed),
        ]
        if source == nil { answer = answer.setting(["origins"], to: .array(origins(at: now))) }
        return AdminAnswer.json(answer)
    }

    /// Origins that are left alone, those first that are so for longest.
    private func origins(at now: Int64) -> [JSONValue] {
        pipeline.failures.hosts.refused(at: now).sorted { $0.seconds > $1.seconds }.prefix(Self.maxListed).map
        { refused in
            [
                "origin": .string("\(refused.origin.scheme)://\(refused.origin.host):\(refused.origin.port)"),
                "code": .string("host_unavailable"),
                "clients": .string(refused.isForOneClient ? "one" : "all"),
                "remaining": .integer(Int(refused.seconds)),
            ]
        }
    }

    /// `DELETE /failed[?url=…]`.
    func clear(_ query: [UInt8]) throws(AdminFailure) -> HTTPResponse {
        let source = try AdminQuery(query, names: ["url", "url64"]).source(pipeline.buckets)
        let (failures, now) = (pipeline.failures, pipeline.clock().seconds)
        let count = source.map { failures.clear(sources: [pipeline.key(of: $0)], at: now) }
        return AdminAnswer.json(["failures": .integer(count ?? failures.clear(at: now))])
    }
}
