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
            (PipelineError(RenderError.unsupportedFormat("heic")), "'heic' is read only where"),
            (PipelineError(RenderError.unsupportedFormat("jxl")), "'jxl' is read and written only where"),
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

    @Test("A reason is printable, whatever an origin puts into it")
    func printable() {
        #expect(FailureReason("a\nb\u{1B}é").text == "a?b???")
    }

    @Test("A reason is bounded in bytes, and counts towards the memory of failures")
    func bounds() {
        let reason = FailureReason(String(repeating: "a", count: 10_000))

        #expect(reason.text.utf8.count == FailureReason.maxBytes)
        #expect(reason.byteCount == FailureReason.maxBytes)
        #expect(PipelineError.tlsFailed.because(reason) == .tlsFailed)
    }

    @Test("A lack of workers is temporary for clients, and only the operator's log has its reason")
    func noWorker() {
        let error = PipelineError(RenderError.unavailable("no such file"))

        #expect(error.row.status == 503 && error.retryAfter == 1 && error.fault == "no such file")
        #expect(error.row.memory == nil && error.detail?.contains("no such file") != true)
    }

    @Test("A damaged watermark is 500, and is not remembered for the source")
    func watermark() {
        let error = PipelineError(RenderError.watermarkUnreadable("not a picture"))

        #expect(error.row.status == 500 && error.row.memory == nil)
    }
}
