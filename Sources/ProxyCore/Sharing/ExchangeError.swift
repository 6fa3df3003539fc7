// SPDX-License-Identifier: Apache-2.0

/// Why the object store, or another node, did not do what it was asked.
///
/// Only failures of the store are shown as text: a node that fails is reported by its name, or not at all.
package enum ExchangeError: Error, Sendable, Hashable, CustomStringConvertible {
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

    package var description: String { row.text }

    /// As what it is counted.
    var outcome: SharedStatistics.Outcome { row.outcome }

    /// Whether the store itself works badly, as opposed to refusing this request; nil where it says nothing of the store.
    var isOfStore: Bool? { row.isOfStore }

    private struct Row {
        let text: String
        let outcome: SharedStatistics.Outcome
        let isOfStore: Bool?

        init(_ text: String, _ outcome: SharedStatistics.Outcome, isOfStore: Bool?) {
            (self.text, self.outcome, self.isOfStore) = (text, outcome, isOfStore)
        }
    }

    private var row: Row {
        switch self {
        case .timedOut: Row("the store did not answer in time", .timedOut, isOfStore: true)
        case .failed(let text): Row(text, .failed, isOfStore: true)
        case .refused(let status, let code):
            Row(
                "the store answered \(status)\(code.isEmpty ? "" : " " + code)", .failed,
                isOfStore: status >= 500 || status == 429 || status == 403)
        case .noKeys(let text): Row(text, .failed, isOfStore: true)
        case .tooSlow: Row("the store did not send all of an object in time", .timedOut, isOfStore: nil)
        case .tooLarge: Row("an object is longer than any that is used", .unusable, isOfStore: nil)
        case .overloaded: Row("too many bytes of other objects are in memory", .skipped, isOfStore: nil)
        case .cancelled: Row("the client that waited has left", .skipped, isOfStore: nil)
        case .breakerOpen:
            Row("the store is left alone for a while after several failures", .skipped, isOfStore: nil)
        }
    }
}
