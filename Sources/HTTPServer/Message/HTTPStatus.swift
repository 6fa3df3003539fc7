// SPDX-License-Identifier: Apache-2.0

/// A response's status code (RFC 9110 §15).
public struct HTTPStatus: Sendable, Hashable {
    /// The three-digit code.
    public let code: UInt16

    /// Wraps a code; one outside 100–599 becomes 500.
    public init(_ code: UInt16) {
        self.code = (100...599).contains(code) ? code : 500
    }

    /// 200.
    public static let ok = HTTPStatus(200)
    /// 204.
    public static let noContent = HTTPStatus(204)
    /// 206.
    public static let partialContent = HTTPStatus(206)
    /// 304.
    public static let notModified = HTTPStatus(304)
    /// 404.
    public static let notFound = HTTPStatus(404)
    /// 503.
    public static let serviceUnavailable = HTTPStatus(503)

    /// Whether a response with this status never has a body (RFC 9110 §6.4.1).
    public var forbidsBody: Bool { code < 200 || code == 204 || code == 304 }

    /// The reason phrase as the `code` of the server's own problem documents, such as `bad_request`.
    public var problemCode: String {
        "\(reason)".lowercased().map { $0 == " " ? "_" : String($0) }.joined()
    }

    /// The registered reason phrase (RFC 9110 §15, RFC 6585, RFC 5842); empty for a code without one here.
    var reason: StaticString {
        switch code {
        case 100: "Continue"
        case 101: "Switching Protocols"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 203: "Non-Authoritative Information"
        case 204: "No Content"
        case 205: "Reset Content"
        case 206: "Partial Content"
        case 300: "Multiple Choices"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 402: "Payment Required"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 407: "Proxy Authentication Required"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 426: "Upgrade Required"
        case 428: "Precondition Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 451: "Unavailable For Legal Reasons"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        case 507: "Insufficient Storage"
        case 508: "Loop Detected"
        default: ""
        }
    }
}
