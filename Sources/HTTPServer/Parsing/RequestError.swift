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
    public var status: UInt16 {
        switch self {
        case .malformed, .missingHost, .unencodedTarget: 400
        case .bodyTooLarge: 413
        case .targetTooLong: 414
        case .unknownExpectation: 417
        case .misdirected: 421
        case .headTooLarge: 431
        case .notImplemented: 501
        case .versionNotSupported: 505
        }
    }

    /// What the client or the operator can change, where the status does not say it.
    func detail(within limits: RequestLimits = RequestLimits()) -> String? {
        switch self {
        case .unencodedTarget:
            "the request target has a space, a control or a character outside ASCII; percent-encode it as UTF-8, such as %C3%A9"
        case .missingHost: "a request of HTTP/1.1 needs the field Host"
        case .bodyTooLarge:
            "the body may have at most \(limits.contentBytes) bytes (http.maxBodyBytes), and \(limits.extensionBytes) of chunk extensions"
        case .targetTooLong:
            "the request target may have at most \(limits.targetBytes) bytes (http.maxTargetBytes)"
        case .headTooLarge:
            "the head may have at most \(limits.headBytes) bytes (http.maxHeaderBytes), and \(limits.fieldLines) fields"
        case .malformed, .unknownExpectation, .misdirected, .notImplemented, .versionNotSupported: nil
        }
    }
}
