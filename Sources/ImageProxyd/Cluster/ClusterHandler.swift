// SPDX-License-Identifier: Apache-2.0

import Cache
internal import HTTPServer
import Observability
import Pipeline
import Primitives
import Sharing

/// Answers the requests of other nodes, on the listener of clients: only those that the cluster's key has signed.
struct ClusterHandler: Sendable {
    let cluster: Cluster
    let pipeline: ImagePipeline

    private static let signature = FieldName(ClusterKey.field)
    private static let node = FieldName(ClusterPeers.nodeField)
    private static let prefix = "/cluster/"

    /// The answer; nil where the target is none of a node.
    func answer(_ request: HTTPRequest) -> HTTPAnswer? {
        guard unsafe request.withTarget({ unsafe $0.starts(with: Self.prefix.utf8) }) else { return nil }
        let target = request.target
        guard let key = cluster.key, let signature = Self.signature.flatMap({ request.values(of: $0).first }),
            key.isValid(signature, request.method.rawValue, target)
        else { return .now(Self.refusal(401, "unauthorized", "The request is not signed by the cluster's key")) }
        let parts = target.split(separator: "?", maxSplits: 1)
        switch (request.method, parts.first) {
        case (.post, ClusterPeers.purgePath[...]?):
            guard parts.count == 2, parts[1].hasPrefix("purge="),
                let purge = SharedPurge(name: String(parts[1].dropFirst("purge=".count)))
            else { return .now(Self.refusal(400, "invalid_parameter", "That is no purge")) }
            return .later(context: ExchangeContext(.other).packed) { await self.purge(purge) }
        default: return .now(Self.refusal(404, "not_found", "There is nothing at this path"))
        }
    }

    private func purge(_ purge: SharedPurge) async -> HTTPResponse {
        do throws(DiskCacheError) {
            try await cluster.apply(purge, by: pipeline)
        } catch {
            return Self.refusal(500, "purge_failed", "The purge could not be done here")
        }
        var response = AdminAnswer.json(["node": .string(cluster.node)])
        if let name = Self.node { response.fields.append(name, text: cluster.node) }
        response.context = ExchangeContext(.other).packed
        return response
    }

    private static func refusal(_ status: Int, _ code: String, _ title: String) -> HTTPResponse {
        ResponseMapping.problem(
            ProblemDocument(status: status, code: code, title: title), context: ExchangeContext(.other))
    }
}
