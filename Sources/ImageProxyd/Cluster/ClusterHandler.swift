// SPDX-License-Identifier: Apache-2.0

import Answering
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
    let handlers: ImageHandlers

    private static let signature = FieldName(ClusterKey.field)
    private static let node = FieldName(ClusterPeers.nodeField)
    private static let prefix = "/cluster/"

    /// The answer; nil where the target is none of a node.
    func answer(_ request: HTTPRequest) -> HTTPAnswer? {
        guard unsafe request.withTarget({ unsafe $0.starts(with: Self.prefix.utf8) }) else { return nil }
        let target = request.target
        guard let key = cluster.key, let signature = Self.signature.flatMap({ request.values(of: $0).first }),
            key.isValid(signature, request.method.rawValue, target)
        else {
            return .now(Self.refusal(401, "unauthorized", "The request is not signed by the cluster's key"))
        }
        let parts = target.split(separator: "?", maxSplits: 1)
        switch (request.method, parts.first) {
        case (.post, ClusterPeers.purgePath[...]?):
            guard parts.count == 2, parts[1].hasPrefix("purge="),
                let purge = SharedPurge(name: String(parts[1].dropFirst("purge=".count)))
            else { return .now(Self.refusal(400, "invalid_parameter", "That is no purge")) }
            return .later(context: ExchangeContext(.cluster).packed) { await self.purge(purge, target) }
        case (.get, ClusterPeers.pingPath[...]?):
            return .now(signed(AdminAnswer.json(["node": .string(cluster.node)]), to: target))
        case (.get, ClusterHomes.path[...]?):
            // A node that asks itself does not know its own address.
            guard Self.node.flatMap({ request.values(of: $0).first }) != cluster.node else {
                var refusal = HTTPResponse(status: .init(409))
                refusal.body = .bytes(ClusterHomes.ownAnswer(cluster.node))
                return .now(signed(refusal, to: target))
            }
            let query = Array((parts.count == 2 ? parts[1] : "").utf8)
            return .later(context: ExchangeContext(.cluster).packed) { await self.picture(query, target) }
        default: return .now(Self.refusal(404, "not_found", "There is nothing at this path"))
        }
    }

    /// A picture for a node that has it not, made here, at the home of its source; another node is not asked.
    private func picture(_ query: [UInt8], _ asked: String) async -> HTTPResponse {
        do throws(AdminFailure) {
            let query = try AdminQuery(query, names: ["target", "accept", "client"])
            let target = Array((query["target"] ?? "").utf8)
            guard let handler = unsafe target.withUnsafeBytes({ unsafe handlers.handler(of: $0) }) else {
                throw AdminQuery.invalid("target", "is about no picture")
            }
            return await picture(
                target, by: handler, accept: query["accept"] ?? "",
                for: ClientID(text: query["client"] ?? ""), asked)
        } catch {
            return Self.refusal(422, "not_made", "The picture was not made here")
        }
    }

    private func picture(
        _ target: [UInt8], by handler: ImageHandler, accept: String, for client: ClientID?,
        _ asked: String
    ) async -> HTTPResponse {
        do throws(PipelineError) {
            let request = try handler.read(target, accept: accept)
            guard let answer = try await pipeline.answerForNode(request, for: client) else {
                return Self.refusal(422, "not_made", "The picture is not for others")
            }
            // Until it is handed to the socket: what waits to be sent is bounded by http's own bounds.
            let count = 2 * answer.entry.body.count
            guard cluster.answers.reserve(count) else {
                return Self.refusal(503, "overloaded", "Too many pictures are being sent to other nodes")
            }
            defer { cluster.answers.release(count) }
            guard let bytes = answer.encoded() else {
                return Self.refusal(422, "not_made", "The picture is not for others")
            }
            var response = HTTPResponse(status: .ok)
            response.fields.append(.contentType, text: "application/octet-stream")
            response.fields.append(.cacheControl, text: "no-store")
            response.body = .bytes(bytes)
            response.context = ExchangeContext(.cluster).packed
            return signed(response, bytes, to: asked)
        } catch {
            // The node meets the error itself, and explains it to its client.
            return Self.refusal(422, "not_made", "The picture was not made here")
        }
    }

    private func purge(_ purge: SharedPurge, _ target: String) async -> HTTPResponse {
        do throws(DiskCacheError) {
            guard try await cluster.apply(purge, by: pipeline) else {
                return Self.refusal(409, "out_of_time", "The purge is too old, or a node's clock is wrong")
            }
        } catch {
            return Self.refusal(500, "purge_failed", "The purge could not be done here")
        }
        return signed(AdminAnswer.json(["node": .string(cluster.node)]), to: target)
    }

    /// An answer that names this node.
    private func signed(_ response: HTTPResponse, to target: String) -> HTTPResponse {
        guard case .bytes(let content) = response.body else { return response }
        return signed(response, content, to: target)
    }

    private func signed(_ response: HTTPResponse, _ content: [UInt8], to target: String) -> HTTPResponse {
        var response = response
        response.context = ExchangeContext(.cluster).packed
        if let name = Self.node { response.fields.append(name, text: cluster.node) }
        if let name = Self.signature, let key = cluster.key {
            response.fields.append(name, text: key.signature(ofAnswer: content, to: target))
        }
        return response
    }

    private static func refusal(_ status: Int, _ code: String, _ title: String) -> HTTPResponse {
        ResponseMapping.problem(
            ProblemDocument(status: status, code: code, title: title), context: ExchangeContext(.cluster))
    }
}
