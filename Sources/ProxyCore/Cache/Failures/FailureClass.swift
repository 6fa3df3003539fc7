// SPDX-License-Identifier: Apache-2.0

package import Primitives

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
    private struct Row {
        let span: KeyPath<FailedURLsConfiguration, TimeSpan>
        /// Whether the answer's own fields say how long it may be remembered.
        var goesByFields = true
        /// Whether the origin has set the time, so that no jitter shortens it.
        var isSetByOrigin = false
    }

    private var row: Row {
        switch self {
        case .notFound: Row(span: \.ttl.notFound)
        case .clientError: Row(span: \.ttl.clientError)
        case .notAnImage: Row(span: \.ttl.notAnImage)
        case .badImage: Row(span: \.ttl.badImage)
        case .connection: Row(span: \.ttl.connection)
        case .unanswered: Row(span: \.ttl.unanswered, goesByFields: false)
        case .retryAfter: Row(span: \.maxRetryAfter, goesByFields: false, isSetByOrigin: true)
        }
    }

    /// How long a failure of this class is remembered, at most.
    package func span(in configuration: FailedURLsConfiguration) -> TimeSpan {
        configuration[keyPath: row.span]
    }

    /// Whether the answer's own fields say how long it may be remembered.
    package var goesByFields: Bool { row.goesByFields }

    /// The share of its time by which jitter may shorten it.
    package func jitter(in configuration: FailedURLsConfiguration) -> Double {
        row.isSetByOrigin ? 0 : configuration.jitter
    }
}
