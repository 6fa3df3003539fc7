// SPDX-License-Identifier: Apache-2.0

/// The result of a fetch, as a metric's label names it.
public enum LoadOutcome: String, Sendable, Hashable, CaseIterable {
    case success
    case notModified = "not_modified"
    case addressForbidden = "address_forbidden"
    case redirectForbidden = "redirect_forbidden"
    case unreachable
    case tlsFailed = "tls_failed"
    case tooManyRedirects = "too_many_redirects"
    case timedOut = "timeout"
    case tooLarge = "too_large"
    case incomplete
    case status
    case notAnImage = "not_an_image"
    case unusable
    case queueFull = "queue_full"
    case queueTimedOut = "queue_timeout"
    case storage
    case cancelled
}

extension LoadError {
    /// The outcome under which a fetch with this error is counted.
    public var outcome: LoadOutcome {
        switch self {
        case .addressForbidden, .nameForbidden: .addressForbidden
        case .redirectForbidden: .redirectForbidden
        case .unreachable, .disconnected: .unreachable
        case .tlsFailed: .tlsFailed
        case .tooManyRedirects: .tooManyRedirects
        case .timedOut: .timedOut
        case .tooLarge: .tooLarge
        case .incomplete: .incomplete
        case .status: .status
        case .notAnImage, .unsupportedFormat: .notAnImage
        case .unusable: .unusable
        case .queueFull: .queueFull
        case .queueTimedOut: .queueTimedOut
        case .storage: .storage
        case .cancelled: .cancelled
        }
    }
}
