// SPDX-License-Identifier: Apache-2.0

internal import ProxyCore

/// What the access log says of an exchange beyond numbers; only what was no plain hit has one.
final class ExchangeNote: Sendable {
    /// The target's path where the route does not tell it.
    let path: InlineText?
    /// What a miss has to say.
    let miss: AccessRecord.Miss?

    init(path: InlineText) {
        self.path = path
        miss = nil
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
        self.miss = miss
    }

    /// Notes why there is no image; `host` is empty when the request had no usable URL.
    init(_ error: PipelineError, host: String) {
        var miss = AccessRecord.Miss(host: host)
        miss.problem = error.disposition.code
        path = nil
        self.miss = miss
    }
}
