// SPDX-License-Identifier: Apache-2.0

/// Why a request can't be read; decides the answer, after which the connection ends.
public enum RequestError: Error, Sendable, Hashable, CaseIterable {
    /// Ambiguous or malformed (RFC 9112 §2.2, §3, §5).
    case malformed
    /// HTTP/1.1 without `Host` (RFC 9112 §3.2).
    case missingHost
    /// The target contains an octet that a URI has only percent-encoded (RFC 3986 §2).
    case unencodedTarget
    /// The content, its chunk extensions or its trailers are longer than allowed.
    case bodyTooLarge
    /// The target is longer than allowed.
    case targetTooLong
    /// An expectation other than `100-continue`.
    case unknownExpectation
    /// An `https` resource requested over a connection without TLS (RFC 9110 §7.4).
    case misdirected
    /// The head or the trailers are longer than allowed, or have too many lines.
    case headTooLarge
    /// An unknown method or transfer coding.
    case notImplemented
    /// A version that is not 1.x.
    case versionNotSupported

    /// The status code of the answer.
    public var status: UInt16 { row.status }

    /// What the client or the operator can change, where the status does not say it.
    func detail(within limits: RequestLimits = RequestLimits()) -> String? { row.detail?(limits) }

    private struct Row {
        let status: UInt16
        let detail: ((RequestLimits) -> String)?

        init(_ status: UInt16, _ detail: ((RequestLimits) -> String)? = nil) {
            (self.status, self.detail) = (status, detail)
        }
    }

    private var row: Row {
        switch self {
        case .malformed: Row(400)
        case .missingHost: Row(400) { _ in "a request of HTTP/1.1 needs the field Host" }
        case .unencodedTarget:
            Row(400) { _ in
                "the request target has a space, a control or a character outside ASCII; percent-encode it as UTF-8, such as %C3%A9"
            }
        case .bodyTooLarge:
            Row(413) {
                "the body may have at most \($0.contentBytes) bytes (http.maxBodyBytes), and \($0.extensionBytes) of chunk extensions"
            }
        case .targetTooLong:
            Row(414) { "the request target may have at most \($0.targetBytes) bytes (http.maxTargetBytes)" }
        case .unknownExpectation: Row(417)
        case .misdirected: Row(421)
        case .headTooLarge:
            Row(431) {
                "the head may have at most \($0.headBytes) bytes (http.maxHeaderBytes), and \($0.fieldLines) fields"
            }
        case .notImplemented: Row(501)
        case .versionNotSupported: Row(505)
        }
    }
}
