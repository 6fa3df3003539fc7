// SPDX-License-Identifier: Apache-2.0

/// Why an origin's response could not be had.
public enum LoadError: Error, Sendable, Hashable {
    /// The address or port that stands in the URL may not be connected to.
    case addressForbidden
    /// The name resolved to addresses of which none may be connected to; clients can't tell that from `unreachable`.
    case nameForbidden
    /// A redirect led to a URL that is not allowed as a source; the text names the rule, for the log.
    case redirectForbidden(String)
    /// The name did not resolve, or no connection came about: refused, reset, unreachable. Text for the log only.
    case unreachable(String)
    /// The connection ended after the request was sent and before an answer began. Text for the log only.
    case disconnected(String)
    /// TLS could not be agreed on or the certificate was refused. Text for the log only.
    case tlsFailed(String)
    /// More redirects than `fetch.maxRedirects`, or a redirect without a usable `Location`.
    case tooManyRedirects
    /// A deadline passed, or the transfer was slower than `fetch.lowSpeed`.
    case timedOut(Phase)
    /// More bytes than `fetch.maxBytes`.
    case tooLarge
    /// The connection ended before the body was complete, or the response made no sense.
    case incomplete(String)
    /// The response's status is no success; carries `Retry-After` in seconds where the origin sent it.
    case status(Int, retryAfter: Int?)
    /// The body's first bytes are none of an allowed image format's.
    case notAnImage
    /// The body's first bytes are those of an image format that may not be decoded here; the text names it.
    case unsupportedFormat(String)
    /// The body can't be made into what its origin rule wants stored.
    case unusable(RenderError)
    /// Too many fetches wait.
    case queueFull
    /// No slot became free within `fetch.queueTimeout`.
    case queueTimedOut
    /// Bytes could not be kept (a full disk and no memory budget). Text for the log only.
    case storage(String)
    /// The task was cancelled, or the loader is shutting down.
    case cancelled

    /// Which deadline passed.
    public enum Phase: String, Sendable, Hashable {
        /// Name look-up, connection and TLS together (`fetch.connectTimeout`).
        case connect
        /// From the request sent to the first byte (`fetch.firstByteTimeout`).
        case firstByte
        /// The whole transfer (`fetch.totalTimeout`), or below `fetch.lowSpeed`.
        case transfer
    }
}

extension LoadError {
    /// Whether a deadline passed.
    var isTimeout: Bool {
        if case .timedOut = self { return true }
        return false
    }
}
