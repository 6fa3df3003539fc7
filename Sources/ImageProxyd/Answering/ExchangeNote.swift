// SPDX-License-Identifier: Apache-2.0

internal import ProxyCore

/// What the access log says of an exchange beyond numbers; only what was no plain hit has one.
final class ExchangeNote: Sendable {
    /// The target's path where the route does not tell it.
    let path: InlineText?
    private let miss: AccessRecord.Miss?
    /// What tells in the end how an image has arrived.
    private let body: ArrivingBody?

    init(path: InlineText) {
        self.path = path
        miss = nil
        body = nil
    }

    /// What a miss has to say, at the exchange's end.
    ///
    /// - Parameter wasCut: whether that came before the answer's.
    func miss(wasCut: Bool) -> AccessRecord.Miss? {
        guard var miss, let body else { return miss }
        miss.fetch = body.fetchTime
        if let failure = body.failure {
            miss.problem = failure.logCode
        } else if wasCut {
            miss.problem = PipelineError.clientLeft.disposition.code
        }
        return miss
    }

    /// Notes that an image goes out while it arrives.
    init(_ image: ArrivingImage, host: String) {
        path = nil
        miss = AccessRecord.Miss(host: host)
        body = image.body
    }

    /// Notes how an image was made.
    init(_ image: ImageResponse, host: String) {
        var miss = AccessRecord.Miss(host: host)
        miss.queue = image.timings.queue
        miss.fetch = image.timings.fetch
        miss.decode = image.timings.decode
        miss.transform = image.timings.transform
        miss.encode = image.timings.encode
        path = nil
        body = nil
        self.miss = miss
    }

    /// Notes why there is no image; `host` is empty when the request had no usable URL.
    init(_ error: PipelineError, host: String) {
        var miss = AccessRecord.Miss(host: host)
        miss.problem = error.logCode
        path = nil
        body = nil
        self.miss = miss
    }
}
