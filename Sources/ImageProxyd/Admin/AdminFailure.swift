// SPDX-License-Identifier: Apache-2.0

import Answering
import Cache
internal import HTTPServer
import Observability
import Pipeline
import Request

/// Why an operator's request failed.
enum AdminFailure: Error {
    /// Nothing says what is to be purged.
    case nothingToPurge
    /// A parameter is missing or wrong.
    case request(ImageRequestError)
    /// There is no key to sign with.
    case noKey
    /// The disk tier failed.
    case disk(DiskCacheError)
    /// There are `EventStreams.maxStreams` streams of events, or the daemon shuts down.
    case tooManyStreams
    /// The content of a prefetch order is not what it should be.
    case invalidContent(String)
    /// The content is longer than `PrefetchBody.maxBytes`.
    case contentTooLarge
    /// The queue does not take a prefetch order.
    case refused(PrefetchQueue.Refusal)
    /// There is no such prefetch order.
    case unknownOrder
    /// The daemon shuts down, and takes no prefetch order.
    case stopped

    /// As a problem document.
    var response: HTTPResponse {
        var response = ResponseMapping.problem(document, context: ExchangeContext(.admin))
        if isTemporary { response.fields.append(.retryAfter, text: "1") }
        return response
    }

    private var isTemporary: Bool {
        switch self {
        case .tooManyStreams, .refused(.full), .refused(.tooManyOrders), .stopped: true
        default: false
        }
    }

    /// The document alone.
    var document: ProblemDocument {
        switch self {
        case .nothingToPurge:
            ProblemDocument(PipelineError(.missingParameter("url"))).explained(
                "one of url, url64, key, tag, prefix and all=1 is required")
        case .request(let error): ProblemDocument(PipelineError(error))
        case .noKey: .noKey.explained("security.keys names the keys' files")
        case .disk(let error): .cacheFailed.explained("\(error)")
        case .tooManyStreams: .tooManyStreams.explained(EventStreams.bound)
        case .invalidContent(let reason): .invalidContent.explained(reason)
        case .contentTooLarge:
            .contentTooLarge.explained(
                "at most \(PrefetchBody.maxBytes) bytes at a time: send the first sources with "
                    + #""more": true, and the others with POST /prefetch/TOKEN"#)
        case .refused(let refusal): Self.document(of: refusal)
        case .unknownOrder: .noSuchOrder.explained("GET /prefetch lists those that are known")
        case .stopped: .shuttingDown.explained("it takes prefetch orders again once it has started")
        }
    }

    private static func document(of refusal: PrefetchQueue.Refusal) -> ProblemDocument {
        switch refusal {
        case .tooLarge:
            .contentTooLarge.explained(
                "each source counts as its bytes and 128 more, and prefetch.queueBytes is the bound: send fewer at a "
                    + #"time, with "more": true"#)
        case .full:
            ProblemDocument(PipelineError.queueFull).explained(
                "prefetch.queueBytes is the bound: send the same again in a moment")
        case .tooManyOrders:
            ProblemDocument(PipelineError.queueFull).explained(
                "prefetch.maxOrders is the bound: send the same again when some orders have ended")
        case .closed:
            .orderClosed.explained(
                "only one that was sent with \"more\": true does, within 60 seconds each time")
        }
    }
}
