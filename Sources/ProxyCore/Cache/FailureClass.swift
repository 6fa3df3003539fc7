// SPDX-License-Identifier: Apache-2.0

/// Classes of failures that the blacklist remembers, each for its own time.
public enum FailureClass: String, Sendable, Hashable, CaseIterable {
    /// The origin said 404 or 410.
    case notFound = "not_found"
    /// The origin said another 4xx that a retry will not heal.
    case clientError = "client_error"
    /// Not an image, or none that may be decoded.
    case notAnImage = "not_an_image"
    /// Too large, too many pixels, broken, crashed the decoder, took too long.
    case badImage = "bad_image"
    /// TLS failed, or too many redirects.
    case connection
    /// The origin took the request, and ended the connection or let the time pass.
    case unanswered
    /// The origin answered with an error, and with the time after which it wants to be asked again.
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

    /// Whether the answer's own fields say how long it may be held against its URL.
    var goesByFields: Bool { self != .unanswered && self != .retryAfter }

    /// The share of its time by which chance may shorten it: none where the origin has set the time.
    func jitter(in configuration: FailedURLsConfiguration) -> Double {
        self == .retryAfter ? 0 : configuration.jitter
    }
}
