// SPDX-License-Identifier: Apache-2.0

/// The answers of the server itself, as problem documents (RFC 9457).
enum ServerProblem {
    /// There are too many connections for anything but health checks.
    static var overload: HTTPResponse { response(503) }

    static func response(_ code: UInt16, detail: String? = nil) -> HTTPResponse {
        var response = HTTPResponse(status: HTTPStatus(code))
        if let type = FieldValue("application/problem+json") { response.fields.append(.contentType, type) }
        if let noStore = FieldValue("no-store") { response.fields.append(.cacheControl, noStore) }
        if let noSniff = FieldValue("nosniff") { response.fields.append(.contentTypeOptions, noSniff) }
        if code == 503 { response.fields.append(.retryAfter, FieldValue(1)) }
        let title = "\(response.status.reason)"
        let name = response.status.problemCode
        var json = #"{"type":"about:blank","title":"\#(title)","status":\#(code),"code":"\#(name)""#
        if let detail { json += #","detail":"\#(detail)""# }
        response.body = .bytes(Array((json + "}\n").utf8))
        return response
    }
}
