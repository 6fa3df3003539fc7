// SPDX-License-Identifier: Apache-2.0

package import Bodies
package import Imaging
package import Primitives
package import URLs

/// Why a fetch got no usable response.
package enum LoadError: Error, Sendable, Hashable {
    /// The address, port or name in the URL is forbidden; which, for the log.
    case addressForbidden(Explanation)
    /// The name resolved only to forbidden addresses; clients can't distinguish that from `unreachable`.
    case nameForbidden
    /// A redirect led to a URL that is not allowed as a source; the text names the rule, for the log, and the origin is that
    /// URL's, as far as it has one.
    case redirectForbidden(String, to: SourceURL.Origin? = nil)
    /// The name did not resolve, or no connection was made: refused, reset, unreachable. Text for the log
    /// only.
    case unreachable(String)
    /// The connection ended after the request was sent and before an answer began. Text for the log only.
    case disconnected(String)
    /// The TLS handshake failed or the certificate was refused. Text for the log only.
    case tlsFailed(String)
    /// More redirects than `fetch.maxRedirects`, or a redirect without a usable `Location`.
    case tooManyRedirects(Explanation)
    /// A deadline passed, or the transfer was slower than `fetch.lowSpeed`.
    case timedOut(Phase)
    /// More bytes than `fetch.maxBytes`.
    case tooLarge
    /// The connection ended before the body was complete, or the response was malformed.
    case incomplete(String)
    /// The response's status is unsuccessful; carries `Retry-After` in seconds if the origin sent it.
    case status(Int, retryAfter: Int?)
    /// A folder has no such file (`loader: file`). Text for the log only.
    case noFile(String)
    /// The response is no image; why, where it is not that the body's first bytes are those of no image format.
    case notAnImage(Explanation)
    /// The body's first bytes are those of an image format that the configuration does not decode; the text
    /// names it.
    case unsupportedFormat(String)
    /// The body can't be converted as its origin rule demands.
    case unusable(RenderError)
    /// There are no keys to sign the request with; which source has none and why, for the log.
    case noKeys(String)
    /// `fetch.proxy` was not reached, or did not connect to the origin.
    indirect case atProxy(SourceURL.Origin, LoadError)
    case queueFull
    /// No slot became free within `fetch.queueTimeout`.
    case queueTimedOut
    /// Bytes could not be stored (a full disk and no memory budget). Text for the log only.
    case storage(String)
    /// The task was cancelled, or the loader is shutting down.
    case cancelled

    /// The deadline that passed.
    package enum Phase: String, Sendable, Hashable {
        /// Name look-up, connection and TLS together (`fetch.connectTimeout`).
        case connect
        /// From the end of the request to the first byte (`fetch.firstByteTimeout`).
        case firstByte
        /// The whole transfer (`fetch.totalTimeout`), or below `fetch.lowSpeed`.
        case transfer
    }
}

extension LoadError {
    /// Where it failed if that is not where the request was for: where the redirect that was refused would have led, or the
    /// proxy.
    package var failedHop: SourceURL.Origin? {
        switch self {
        case .redirectForbidden(_, let target): target
        case .atProxy(let proxy, _): proxy
        default: nil
        }
    }

    /// The origin rule does not accept the response's media type.
    package static func refused(mediaType: String?) -> LoadError {
        .notAnImage(
            "\(mediaType.map { "Content-Type \($0)" } ?? "no Content-Type") is none of responseContentType")
    }

    /// The address in the URL is forbidden.
    package static let forbiddenNetwork = LoadError.addressForbidden(
        "the address is denied, or in a private network that security.allowedNetworks does not name")

    /// Translates the error of a body.
    package init(_ error: BodyError) {
        switch error {
        case .storage(let text): self = .storage(text)
        case .tooManyFiles: self = .queueFull
        case .incomplete: self = .incomplete("the body ended before its last byte")
        }
    }

    /// Runs `work`, whose error becomes the fetch's.
    package static func translated<Value>(_ work: () throws(BodyError) -> Value) throws(LoadError) -> Value {
        do throws(BodyError) { return try work() } catch { throw LoadError(error) }
    }
}
