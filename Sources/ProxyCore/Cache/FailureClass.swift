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
}

extension FailureClass {
    /// How long a failure of this class is remembered.
    func span(in ttl: FailedURLsConfiguration.TTL) -> TimeSpan {
        switch self {
        case .notFound: ttl.notFound
        case .clientError: ttl.clientError
        case .notAnImage: ttl.notAnImage
        case .badImage: ttl.badImage
        case .connection: ttl.connection
        }
    }
}
