// SPDX-License-Identifier: Apache-2.0

/// Why a request can't be read; decides the answer, after which the connection ends.
public enum RequestError: UInt16, Error, Sendable, Hashable, CaseIterable {
    /// Ambiguous or malformed (RFC 9112 §2.2, §3, §5).
    case malformed = 400
    /// The content, its chunk extensions or its trailers are longer than allowed.
    case bodyTooLarge = 413
    /// The target is longer than allowed.
    case targetTooLong = 414
    /// An expectation other than `100-continue`.
    case unknownExpectation = 417
    /// An `https` resource requested over a connection without TLS (RFC 9110 §7.4).
    case misdirected = 421
    /// The head or the trailers are longer than allowed, or have too many lines.
    case headTooLarge = 431
    /// An unknown method or transfer coding.
    case notImplemented = 501
    /// A version that is not 1.x.
    case versionNotSupported = 505
}
