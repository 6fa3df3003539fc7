// SPDX-License-Identifier: Apache-2.0

package import Cache
package import HTTPServer
package import Observability
package import Pipeline
package import Request
package import URLs

/// What the access log contains of an exchange beyond numbers; plain hits have none.
package final class ExchangeNote: Sendable {
    /// The target's path if the route does not determine it.
    package let path: InlineText?
    private let content: Content?

    private struct Content {
        /// The requested source; nil if the request had no usable URL.
        var source: SourceURL?
        /// The preset that was requested.
        var preset: String?
        var purge: PurgeTarget?
        /// The durations of the steps, if an image was made.
        var timings: ImageResponse.Timings?
        /// Why there is no image, or why a stale one was sent.
        var failure: PipelineError?
        /// The problem document that was sent without a failure of the pipeline.
        var problem: ProblemDocument?
        /// What the log says of that problem.
        var reason = ""
        /// How the origin was reached.
        var way = ForwardingRecord.Way()
        /// The body of a streamed image, which knows at its end how it was received.
        var body: BodyReader?
        /// Whether the handler's answer is still awaited: what is sent meanwhile is the server's own.
        var isAwaited = false
        /// What counts the image's bytes in memory until they have been sent.
        var memory: (any Sendable)?
    }

    package init(path: InlineText) {
        self.path = path
        content = nil
    }

    /// The error's code; nil where there was none.
    package var code: String? { content?.failure?.row.code ?? content?.problem?.code }

    /// The log's facts about a miss, at the exchange's end.
    /// - Parameters:
    ///   - status: that of the answer.
    ///   - wasCut: whether the exchange ended before the answer did.
    ///   - url: how much of the source's URL is logged.
    package func miss(
        status: HTTPStatus, wasCut: Bool, url: LogConfiguration.URLDetail
    ) -> AccessRecord.Miss? {
        guard let content else { return nil }
        var miss = AccessRecord.Miss(LoggedURL(content.source, as: url))
        miss.preset = content.preset ?? ""
        miss.purge = content.purge?.logged ?? ""
        miss.fetch = content.body?.fetchTime ?? 0
        miss.redirects = content.way.redirects
        miss.families = content.way.families.text
        if let timings = content.timings {
            miss.queue = timings.queue
            miss.fetch = timings.fetch
            miss.decode = timings.decode
            miss.transform = timings.transform
            miss.encode = timings.encode
        }
        if let failure = content.body?.failure ?? content.failure {
            miss.describe(failure, url: url)
        } else if wasCut, content.body != nil || content.isAwaited {
            miss.problem = PipelineError.clientLeft.row.code
        } else if content.isAwaited {
            miss.problem = status.problemCode
        } else if let problem = content.problem {
            miss.problem = problem.code
            miss.parameter = AccessRecord.Miss.logged(problem.parameter)
            miss.reason = content.reason
        }
        return miss
    }

    /// Why a body that was being sent broke off; nil where the client left, or nothing is known.
    var bodyFailure: PipelineError? { content?.body?.failure }

    /// Records what is requested, until there is an answer.
    package init(awaiting request: ImageRequest) {
        path = nil
        content = Content(source: request.source, preset: request.delivery.preset, isAwaited: true)
    }

    /// Records that an image is streamed while it is received.
    package init(_ image: StreamingImage, for request: ImageRequest) {
        path = nil
        content = Content(source: request.source, preset: request.delivery.preset, body: image.body)
    }

    /// Records that an operator has purged this.
    /// - Parameter source: the source that was named by its URL.
    package init(purged target: PurgeTarget, source: SourceURL?) {
        path = nil
        content = Content(source: source, purge: target)
    }

    /// Records that a problem document was sent.
    /// - Parameter path: the target's path, if the route does not determine it.
    package init(_ problem: ProblemDocument, path: InlineText? = nil) {
        self.path = path
        content = Content(problem: problem)
    }

    /// Records that the server itself has refused a request.
    /// - Parameter request: nil if the route determines its path.
    package init(refusal status: HTTPStatus, _ reason: String?, at request: HTTPRequest?) {
        path = request?.path
        let problem = ProblemDocument(status: Int(status.code), code: status.problemCode, title: "")
        content = Content(problem: problem, reason: reason ?? "")
    }

    private init(path: InlineText, content: Content?) {
        self.path = path
        self.content = content
    }

    /// The same for a target whose route does not determine its path.
    package func at(_ path: InlineText) -> ExchangeNote { ExchangeNote(path: path, content: content) }

    /// Records how an image was made.
    /// - Parameters:
    ///   - context: that of the client's request.
    ///   - sent: what is recorded of the answer already: a problem document in place of the image.
    package init(
        _ image: ImageResponse, for request: ImageRequest, _ context: FetchContext, sent: ExchangeNote?
    ) {
        path = nil
        var content = Content(
            source: request.source, preset: request.delivery.preset, timings: image.timings,
            problem: sent?.content?.problem)
        content.memory = image.entry ?? image.lease
        if case .stale(.onError(let failure, _)) = image.provenance { content.failure = failure }
        if image.timings.fetch > 0 { content.way = context.forwarding?.way ?? content.way }
        self.content = content
    }

    /// Records why there is no image; `source` is nil if the request had no usable URL.
    package init(
        _ error: PipelineError, source: SourceURL?, preset: String?, _ context: FetchContext
    ) {
        path = nil
        content = Content(
            source: source, preset: preset, failure: error,
            way: context.forwarding?.way ?? ForwardingRecord.Way())
    }
}

extension AddressFamilies {
    /// The families as the log has them.
    fileprivate var text: String {
        [contains(.ipv6) ? "ipv6" : nil, contains(.ipv4) ? "ipv4" : nil].compactMap(\.self).joined(
            separator: ",")
    }
}

extension PurgeTarget {
    /// The log's name of it; a source's URL is logged as `log.url` says.
    fileprivate var logged: String {
        switch self {
        case .source: "url"
        case .key(let key): "key:\(key)"
        case .tag(let tag): "tag:\(tag)"
        // The path may hold a secret.
        case .prefix: "prefix"
        case .everything: "all"
        }
    }
}

extension AccessRecord.Miss {
    /// Creates the values for a failure of the daemon's own request to a source.
    package init(_ source: SourceURL, _ failure: PipelineError, url: LogConfiguration.URLDetail) {
        self.init(LoggedURL(source, as: url))
        describe(failure, url: url)
    }

    /// A longer name is none of ours, and may be a key or token that a client did not escape.
    private static let longestParameter = 31

    /// A parameter's name, or nothing where it may be a secret.
    fileprivate static func logged(_ parameter: String?) -> String {
        parameter.flatMap { $0.utf8.count <= longestParameter ? $0 : nil } ?? ""
    }

    /// Sets the reason of a failure.
    fileprivate mutating func describe(_ failure: PipelineError, url: LogConfiguration.URLDetail) {
        problem = failure.row.logCode
        parameter = Self.logged(failure.parameter?.name)
        upstreamStatus = failure.upstreamStatus ?? 0
        let reason = failure.reason
        self.reason = reason.text
        if url != .none { hop = reason.hop }
    }
}

extension HTTPRequest {
    /// The target's path, as it is logged.
    package var path: InlineText {
        unsafe withTarget { unsafe InlineText($0, upTo: UInt8(ascii: "?")) }
    }
}
