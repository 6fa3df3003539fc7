// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Imaging
@testable import Loading
@testable import Pipeline
@testable import Request

@Suite("Errors")
struct PipelineErrorTests {
    @Test(
        "A limit of time, or what a request lacks, is named to the client",
        arguments: [
            (PipelineError(LoadError.timedOut(.connect)), "fetch.connectTimeout"),
            (PipelineError(LoadError.timedOut(.firstByte)), "fetch.firstByteTimeout"),
            (PipelineError(LoadError.timedOut(.transfer)), "fetch.totalTimeout"),
            (PipelineError(LoadError.status(508, retryAfter: nil)), "fetch.via"),
            (PipelineError(RenderError.timedOut), "transform.timeout"),
            (PipelineError(ImageRequestError.signatureRequired), "'&sig='"),
            (PipelineError(ImageRequestError.urlExpired), "'expires'"),
            (PipelineError.tooManyRequests(retryAfter: 1), "security.rateLimit"),
        ])
    func detail(error: PipelineError, name: String) {
        #expect(error.detail?.contains(name) == true)
    }

    @Test(
        "A limit of time or of waiting, or what is wrong with a file, is named in the log",
        arguments: [
            (PipelineError(LoadError.timedOut(.connect)), "fetch.connectTimeout"),
            (PipelineError(LoadError.queueFull), "fetch.queue is full"),
            (PipelineError(LoadError.noFile("a symbolic link")), "a symbolic link"),
            (PipelineError(LoadError.queueTimedOut), "fetch.queueTimeout"),
            (PipelineError(RenderError.timedOut), "transform.timeout"),
            (PipelineError(RenderError.queueFull), "transform.queue is full"),
            (PipelineError(RenderError.queueTimedOut), "transform.queueTimeout"),
        ])
    func reason(error: PipelineError, name: String) {
        #expect(error.reason.text.contains(name))
    }
}
