// SPDX-License-Identifier: Apache-2.0

internal import ProxyCore

/// What the access log contains of an exchange beyond numbers; plain hits have none.
final class ExchangeNote: Sendable {
    /// The target's path if the route does not determine it.
    let path: InlineText?
    private let content: Content?

    private struct Content {
        /// The requested source; nil if the request had no usable URL.
        var source: SourceURL?
        /// The durations of the steps, if an image was made.
        var timings: ImageResponse.Timings?
        /// Why there is no image, or why a stale one was sent.
        var failure: PipelineError?
        /// The body of a streamed image, which knows at its end how it was received.
        var body: ArrivingBody?
    }

    init(path: InlineText) {
        self.path = path
        content = nil
    }

    /// The log's facts about a miss, at the exchange's end.
    /// - Parameters:
    ///   - wasCut: whether the exchange ended before the answer did.
    ///   - url: how much of the source's URL is logged.
    func miss(wasCut: Bool, url: LogConfiguration.URLDetail) -> AccessRecord.Miss? {
        guard let content else { return nil }
        let logged = LoggedURL(content.source, as: url)
        var miss = AccessRecord.Miss(host: logged.host)
        (miss.port, miss.url) = (logged.port, logged.text)
        miss.fetch = content.body?.fetchTime ?? 0
        if let timings = content.timings {
            miss.queue = timings.queue
            miss.fetch = timings.fetch
            miss.decode = timings.decode
            miss.transform = timings.transform
            miss.encode = timings.encode
        }
        if let failure = content.body?.failure ?? content.failure {
            miss.describe(failure, url: url)
        } else if content.body != nil, wasCut {
            miss.problem = PipelineError.clientLeft.row.code
        }
        return miss
    }

    /// Records that an image is streamed while it is received.
    init(_ image: ArrivingImage, source: SourceURL) {
        path = nil
        content = Content(source: source, body: image.body)
    }

    /// Records how an image was made.
    init(_ image: ImageResponse, source: SourceURL) {
        path = nil
        var content = Content(source: source, timings: image.timings)
        if case .stale(.onError(let failure, _)) = image.provenance { content.failure = failure }
        self.content = content
    }

    /// Records why there is no image; `source` is nil if the request had no usable URL.
    init(_ error: PipelineError, source: SourceURL?) {
        path = nil
        content = Content(source: source, failure: error)
    }
}

extension AccessRecord.Miss {
    /// Sets the reason of a failure.
    fileprivate mutating func describe(_ failure: PipelineError, url: LogConfiguration.URLDetail) {
        problem = failure.row.logCode
        upstreamStatus = failure.upstreamStatus ?? 0
        let reason = failure.reason
        self.reason = reason.text
        if url != .none { hop = reason.hop }
    }
}
