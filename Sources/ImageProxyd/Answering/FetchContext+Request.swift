// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
internal import ProxyCore

extension FetchContext {
    /// What a request hands on to the origin.
    init(_ request: HTTPRequest) {
        let parents = request.values(of: .traceparent)
        // Two of them make no sense together, so neither counts (Trace Context §4.3).
        self.init(
            traceparent: parents.count == 1 ? parents.first : nil,
            tracestate: request.has(.tracestate)
                ? request.values(of: .tracestate).joined(separator: ",") : nil)
    }
}

extension LoopGuard {
    /// Refuses a request that this daemon has sent itself.
    /// - Throws: `loopDetected`.
    func check(_ request: HTTPRequest) throws(PipelineError) {
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
    static let priority = FieldName(literal: "Priority")
    /// `traceparent` (W3C Trace Context).
    static let traceparent = FieldName(literal: "traceparent")
    /// `tracestate`.
    static let tracestate = FieldName(literal: "tracestate")
}
