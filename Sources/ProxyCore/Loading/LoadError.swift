// SPDX-License-Identifier: Apache-2.0

/// Why a fetch got no usable response.
public enum LoadError: Error, Sendable, Hashable {
    /// The address or port in the URL is forbidden.
    case addressForbidden
    /// The name resolved only to forbidden addresses; clients can't distinguish that from `unreachable`.
    case nameForbidden
    /// A redirect led to a URL that is not allowed as a source; the text names the rule, for the log.
    case redirectForbidden(String)
    /// The name did not resolve, or no connection was made: refused, reset, unreachable. Text for the log
    /// only.
    case unreachable(String)
    /// The connection ended after the request was sent and before an answer began. Text for the log only.
    case disconnected(String)
    /// The TLS handshake failed or the certificate was refused. Text for the log only.
    case tlsFailed(String)
    /// More redirects than `fetch.maxRedirects`, or a redirect without a usable `Location`.
    case tooManyRedirects
    /// A deadline passed, or the transfer was slower than `fetch.lowSpeed`.
    case timedOut(Phase)
    /// More bytes than `fetch.maxBytes`.
    case tooLarge
    /// The connection ended before the body was complete, or the response was malformed.
    case incomplete(String)
    /// The response's status is unsuccessful; carries `Retry-After` in seconds if the origin sent it.
    case status(Int, retryAfter: Int?)
    /// The body's first bytes are those of no allowed image format.
    case notAnImage
    /// The body's first bytes are those of an image format that the configuration does not decode; the text
    /// names it.
    case unsupportedFormat(String)
    /// The body can't be converted as its origin rule demands.
    case unusable(RenderError)
    /// The queue is full.
    case queueFull
    /// No slot became free within `fetch.queueTimeout`.
    case queueTimedOut
    /// Bytes could not be stored (a full disk and no memory budget). Text for the log only.
    case storage(String)
    /// The task was cancelled, or the loader is shutting down.
    case cancelled

    /// The deadline that passed.
    public enum Phase: String, Sendable, Hashable {
        /// Name look-up, connection and TLS together (`fetch.connectTimeout`).
        case connect
        /// From the end of the request to the first byte (`fetch.firstByteTimeout`).
        case firstByte
        /// The whole transfer (`fetch.totalTimeout`), or below `fetch.lowSpeed`.
        case transfer
    }
}
