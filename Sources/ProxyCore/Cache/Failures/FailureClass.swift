// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Classes of failures that are remembered, each for its own time.
package enum FailureClass: String, Sendable, Hashable, CaseIterable {
    /// The origin answered 404 or 410.
    case notFound = "not_found"
    /// The origin answered another 4xx that a retry will not heal.
    case clientError = "client_error"
    /// Not an image, or none that may be decoded.
    case notAnImage = "not_an_image"
    /// Too large, too many pixels, damaged, crashed the decoder, took too long.
    case badImage = "bad_image"
    /// TLS failed, or too many redirects.
    case connection
    /// The origin accepted the request, and closed the connection or exceeded the timeout.
    case unanswered
    /// The origin answered with an error and `Retry-After`.
    case retryAfter = "retry_after"
}

extension FailureClass {
    /// How long a failure of this class is remembered, at most.
    func span(in configuration: FailedURLsConfiguration) -> TimeSpan {
        let ttl = configuration.ttl
        return switch self {
        case .notFound: ttl.notFound
        case .clientError: ttl.clientError
        case .notAnImage: ttl.notAnImage
        case .badImage: ttl.badImage
        case .connection: ttl.connection
        case .unanswered: ttl.unanswered
        case .retryAfter: configuration.maxRetryAfter
        }
    }

    /// Whether the answer's own fields say how long it may be remembered.
    package var goesByFields: Bool { self != .unanswered && self != .retryAfter }

    /// The share of its time by which jitter may shorten it: none if the origin has set the time.
    func jitter(in configuration: FailedURLsConfiguration) -> Double {
        self == .retryAfter ? 0 : configuration.jitter
    }
}
