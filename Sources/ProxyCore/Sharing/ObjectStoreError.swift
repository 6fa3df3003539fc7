// SPDX-License-Identifier: Apache-2.0

/// Why the object store did not do what it was asked.
package enum ObjectStoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// It did not answer in time.
    case timedOut
    /// It was not reached, or its answer broke off; why, for the log.
    case failed(String)
    /// It answered with a status that is no success; its code, such as `AccessDenied`, or nothing.
    case refused(Int, String)
    /// There are no keys to sign the request with; why, for the log.
    case noKeys(String)
    /// It did not send all of an object in time.
    case tooSlow
    /// An object is longer than any that is used.
    case tooLarge
    /// Too many bytes of other objects are in memory.
    case overloaded
    /// The client that waited has left.
    case cancelled
    /// The tier leaves the store alone for a while, after failures in a row.
    case breakerOpen

    package var description: String {
        switch self {
        case .timedOut: "the store did not answer in time"
        case .failed(let text): text
        case .refused(let status, let code): "the store answered \(status)\(code.isEmpty ? "" : " " + code)"
        case .noKeys(let text): text
        case .tooSlow: "the store did not send all of an object in time"
        case .tooLarge: "an object is longer than any that is used"
        case .overloaded: "too many bytes of other objects are in memory"
        case .cancelled: "the client that waited has left"
        case .breakerOpen: "the store is left alone for a while after several failures"
        }
    }

    /// As what it is counted.
    var outcome: SharedStatistics.Outcome {
        switch self {
        case .timedOut, .tooSlow: .timedOut
        case .tooLarge: .unusable
        case .breakerOpen, .overloaded, .cancelled: .skipped
        case .failed, .refused, .noKeys: .failed
        }
    }

    /// Whether the store itself works badly, as opposed to refusing this request; nil where it says nothing of the store.
    var isOfStore: Bool? {
        switch self {
        case .timedOut, .failed, .noKeys: true
        case .refused(let status, _): status >= 500 || status == 429 || status == 403
        case .breakerOpen, .overloaded, .cancelled, .tooSlow, .tooLarge: nil
        }
    }
}
