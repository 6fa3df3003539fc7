// SPDX-License-Identifier: Apache-2.0

package import HTTPServer
package import Loading
package import Pipeline
import Primitives
package import Tracing

extension FetchContext {
    /// The fields of a request that are passed on to the origin.
    /// - Parameter forwarding: records whether a request was sent to the origin.
    package init(
        _ request: HTTPRequest, forwarding: ForwardingRecord? = nil, trace: Trace? = nil,
        asked: ForwardedRequest? = nil
    ) {
        self.init(
            traceparent: Self.parent(of: request),
            cdnLoop: Self.list(.cdnLoop, of: request), via: Self.list(.via, of: request),
            client: ClientID(request.client), forwarding: forwarding, trace: trace,
            asked: asked)
    }

    /// The part of `traceparent` that version 00 defines, in that version.
    package static func parent(of request: HTTPRequest) -> String? {
        guard request.traceID != nil, let parent = request.values(of: .traceparent).first else { return nil }
        return "00" + parent.dropFirst(2).prefix(53)
    }

    private static func list(_ name: FieldName, of request: HTTPRequest) -> String? {
        request.has(name) ? request.values(of: name).joined(separator: ",") : nil
    }
}

extension FetchContext.ForwardedRequest {
    /// What another node needs of a request to read it; nil where that is too long for a request to it.
    package init?(_ request: HTTPRequest) {
        let accept = request.values(of: .accept).joined(separator: ",")
        guard request.method == .get || request.method == .head, request.target.utf8.count <= Self.longest,
            accept.utf8.count <= Self.longest / 2
        else { return nil }
        self.init(target: request.target, accept: accept)
    }

    /// In bytes; percent-encoded they are three times as many at most.
    private static let longest = 4 << 10
}

extension LoopGuard {
    /// Hot path: whether a request has certainly not passed this daemon before; allocates nothing for
    /// requests through other proxies.
    func isClear(_ request: HTTPRequest) -> Bool {
        guard request.has(.cdnLoop) || request.has(.via) else { return true }
        var (isSuspect, lines) = (false, 0)
        let look: (UnsafeRawBufferPointer) -> Void = { value in
            lines += 1
            if unsafe mayConcern(value) { isSuspect = true }
        }
        unsafe request.withEachValue(of: .cdnLoop, look)
        unsafe request.withEachValue(of: .via, look)
        // Two long lists, or many lines of one, are checked together.
        return !isSuspect && lines <= 4
    }

    /// Refuses a request that this daemon has sent itself.
    /// - Throws: `loopDetected`.
    package func check(_ request: HTTPRequest) throws(PipelineError) {
        guard request.has(.cdnLoop) || request.has(.via) else { return }
        guard !hasPassed(cdnLoop: request.values(of: .cdnLoop), via: request.values(of: .via)) else {
            throw .loopDetected
        }
    }
}

extension FieldName {
    /// `CDN-Loop` (RFC 8586).
    static let cdnLoop = FieldName(literal: "CDN-Loop")
    /// `Priority` (RFC 9218).
    package static let priority = FieldName(literal: "Priority")
    /// `traceparent` (W3C Trace Context).
    static let traceparent = FieldName(literal: "traceparent")
}
