// SPDX-License-Identifier: Apache-2.0

package import Freshness
package import HTTPServer

/// Which pages of other origins may read images (CORS), who may see their timing (Resource Timing), and what is said to caches.
package struct CrossOriginPolicy: Sendable {
    /// Lines that are the same on every answer.
    package let fields: HTTPFields
    /// Whether `Vary` contains `Origin`.
    let variesOnOrigin: Bool
    /// The origins that may read, as a browser spells them, with the value of their answers' field; empty
    /// when all or none may.
    private let origins: [[UInt8]: FieldValue]
    private let allowsAll: Bool
    /// What answers say to browsers and caches in front.
    package let downstream: DownstreamConfiguration

    /// No origin may read.
    package static let none = CrossOriginPolicy(cors: [], timing: [])

    /// Answer fields that scripts may read in addition to those that CORS always permits.
    private static let exposed =
        "Accept-Ranges, Age, Cache-Status, Content-Length, Content-Range, ETag, Retry-After, Server-Timing, X-Request-Id"
    /// How long a browser may store a preflight's answer, in seconds.
    private static let preflightAge = 86_400

    /// Creates the policy from checked settings: `*` alone or origins such as `https://a.example`.
    package init(
        cors: [String], timing: [String], downstream: DownstreamConfiguration = DownstreamConfiguration()
    ) {
        self.downstream = downstream
        var fields = HTTPFields()
        allowsAll = cors == ["*"]
        variesOnOrigin = !cors.isEmpty && !allowsAll
        if allowsAll { fields.append(.accessControlAllowOrigin, text: "*") }
        if !cors.isEmpty { fields.append(.accessControlExposeHeaders, text: Self.exposed) }
        if !timing.isEmpty { fields.append(.timingAllowOrigin, text: timing.joined(separator: ", ")) }
        self.fields = fields
        origins = Dictionary(
            uniqueKeysWithValues: allowsAll
                ? []
                : Set(cors).compactMap { origin in
                    FieldValue(origin).map { (Array(origin.utf8), $0) }
                })
    }

    /// Hot path: names the request's origin in the answer, if it is one of those that may read.
    package func apply(to response: inout HTTPResponse, for request: HTTPRequest) {
        guard variesOnOrigin, request.has(.origin) else { return }
        let allowed = unsafe request.withFirstValue(of: .origin) { unsafe origins[Array($0)] } ?? nil
        if let allowed { response.fields.append(.accessControlAllowOrigin, allowed) }
    }

    /// `Vary` for an answer that does or does not depend on `Accept` and `Sec-CH-DPR`; nil if it depends on
    /// nothing.
    func vary(onAccept: Bool, onDPR: Bool = false) -> String? {
        guard onAccept || onDPR || variesOnOrigin else { return nil }
        let members =
            (onAccept ? ["Accept"] : []) + (onDPR ? ["Sec-CH-DPR"] : []) + (variesOnOrigin ? ["Origin"] : [])
        return members.joined(separator: ", ")
    }

    /// An answer that is the same for all clients, with the CORS fields for the request's origin.
    package func withCORSFields(_ response: HTTPResponse, with request: HTTPRequest) -> HTTPResponse {
        var response = response
        response.fields.append(fields)
        if let vary = vary(onAccept: false) { response.fields.append(.vary, text: vary) }
        apply(to: &response, for: request)
        return response
    }

    /// Answers OPTIONS: which methods are allowed (RFC 9110 §9.3.7), and a browser's preflight.
    package func options(for request: HTTPRequest, allow: String) -> HTTPResponse {
        var response = HTTPResponse(status: .noContent)
        response.fields.append(.allow, text: allow)
        guard allowsAll || variesOnOrigin, request.has(.origin) else { return response }
        response = withCORSFields(response, with: request)
        response.fields.append(.accessControlAllowMethods, text: "GET, HEAD")
        response.fields.append(.accessControlAllowHeaders, text: "*")
        response.fields.append(.accessControlMaxAge, FieldValue(Self.preflightAge))
        return response
    }
}

extension FieldName {
    static let accessControlAllowOrigin = FieldName(literal: "Access-Control-Allow-Origin")
    static let accessControlAllowMethods = FieldName(literal: "Access-Control-Allow-Methods")
    static let accessControlAllowHeaders = FieldName(literal: "Access-Control-Allow-Headers")
    static let accessControlExposeHeaders = FieldName(literal: "Access-Control-Expose-Headers")
    static let accessControlMaxAge = FieldName(literal: "Access-Control-Max-Age")
    package static let timingAllowOrigin = FieldName(literal: "Timing-Allow-Origin")
}
