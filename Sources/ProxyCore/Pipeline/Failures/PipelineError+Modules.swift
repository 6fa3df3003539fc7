// SPDX-License-Identifier: Apache-2.0

package import Imaging
package import Loading
import Primitives
package import Request
package import URLs

/// What the pipeline makes of other modules' errors.
extension PipelineError {
    /// Translates what is wrong with a request.
    package init(_ error: ImageRequestError) {
        switch error {
        case .missingParameter(let name):
            self = Self.missingParameter.about(name).saying("the parameter '\(name)' is required")
        case .invalidParameter(let name, let position, let reason):
            self = Self.invalidParameter.about(name, position)
                .saying("parameter '\(name)', position \(position): \(reason)")
        case .unknownParameter(let name, let hint):
            self = Self.unknownParameter.about(name)
                .saying("'\(name)' is no parameter" + (hint.map { "; \($0)" } ?? ""))
        case .invalidURL(let position, let reason):
            self = Self.invalidURL.about("url", position)
                .saying("parameter 'url', position \(position): \(reason)")
        case .unsupportedScheme(let scheme):
            self = Self.unsupportedScheme.about("url", 0)
                .saying(
                    "'\(scheme)' is not supported, only http, https, and s3 and gs for buckets of 'origins'")
        case .sourceForbidden:
            self = Self.sourceForbidden.explained("no pattern of security.sources allows it")
        case .sourceAmbiguous:
            self = Self.sourceForbidden.explained(
                "an origin may read its path as one that another rule of origins matches, or none")
        case .signatureRequired: self = .signatureRequired
        case .dialectSignatureRequired:
            self = Self.signatureRequired.saying(
                "it has to be signed as its dialect's URLs are, with one of the dialect's keys")
        case .uploadForbidden:
            self = Self.signatureRequired.saying(
                "a picture as the body needs a signed URL, or security.allowUploads")
        case .signatureMismatch(hasKeys: true): self = .signatureMismatch
        case .signatureMismatch(hasKeys: false):
            self = Self.signatureMismatch.because(FailureReason("security.keys names no key"))
                .saying("this daemon has no key in security.keys: no signature can fit")
        case .optionForbidden(let name):
            let setting = name == "tag" ? "security.unsignedTags" : "security.allowedOptions"
            self = Self.optionForbidden.saying("'\(name)' is for signed URLs, or where \(setting) allows it")
        case .presetRequired(let name):
            self = Self.presetRequired.saying(
                "'\(name)' changes the picture, which security.onlyPresets leaves to preset=NAME, also in "
                    + "signed URLs")
        case .urlExpired: self = .urlExpired
        case .untranslated(let option, let reason):
            self = Self.untranslated.about(option).saying(option.isEmpty ? reason : "'\(option)': \(reason)")
        case .dialectOptionForbidden(let option, let reason):
            self = Self.dialectOptionForbidden.about(option).saying("'\(option)': \(reason)")
        case .dialectSignature(let reason): self = Self.signatureMismatch.saying(reason)
        case .notFound(let reason): self = Self.nothingThere.saying(reason)
        case .ofSource(let error, let source):
            let known = PipelineError(error)
            self = known.saying(
                "\(known.detail ?? known.row.title); '\(source.excerpt)' was read as the source")
        }
    }

    /// Translates what the loader says; its texts go into the reason, for the log alone.
    /// - Parameter hop: where the fetch failed, unless that is the source's own origin.
    package init(_ error: LoadError, at hop: SourceURL.Origin? = nil) {
        func reason(_ text: String) -> FailureReason { FailureReason(text, at: hop) }
        switch error {
        case .addressForbidden(let which): self = Self.addressForbidden.because(reason(which.text))
        case .nameForbidden: self = Self.nameForbidden.because(reason("its addresses are private or denied"))
        case .redirectForbidden(let text, _):
            self = Self.sourceForbidden.because(reason("a redirect leads to a forbidden URL: \(text)"))
                .saying("the source redirects to a URL that is not allowed")
        case .unreachable(let text): self = Self.upstreamUnreachable.because(reason(text))
        case .disconnected(let text): self = Self.upstreamDisconnected.because(reason(text))
        case .tlsFailed(let text): self = Self.tlsFailed.because(reason(text))
        case .tooManyRedirects(let why): self = Self.tooManyRedirects.explained(why, at: hop)
        case .timedOut(.connect): self = Self.upstreamConnectTimeout.loggingDetail(at: hop)
        case .timedOut(.firstByte): self = Self.upstreamTimeout.loggingDetail(at: hop)
        case .timedOut(.transfer): self = Self.upstreamTransferTimeout.loggingDetail(at: hop)
        case .tooLarge:
            self = Self.sourceTooLarge.explained("it has more bytes than fetch.maxBytes allows", at: hop)
        case .incomplete(let text): self = Self.upstreamIncomplete.because(reason(text))
        case .status(404, _): self = .upstreamNotFound(status: 404)
        case .noFile(let text): self = .upstreamNotFound(status: 404).because(reason(text))
        case .status(410, _): self = .upstreamNotFound(status: 410)
        // Another instance, or this one behind a name of its own, has recognized our request.
        case .status(508, _): self = .loopDetected
        case .status(let status, let retryAfter): self = .upstreamStatus(status, retryAfter: retryAfter)
        case .notAnImage(let why) where why.text.isEmpty:
            self = Self.notAnImage.because(
                reason("the response does not begin as an image of a known format"))
        case .notAnImage(let why): self = Self.notAnImage.explained(why, at: hop)
        case .unsupportedFormat(let name): self = .unsupportedFormat(name)
        case .unusable(let error): self = PipelineError(error)
        case .noKeys(let text): self = Self.noKeys.because(reason(text))
        case .atProxy(_, let error):
            let failure = PipelineError(error, at: hop)
            self = failure.because(reason("fetch.proxy: \(failure.reason.text)"))
        case .queueFull:
            self = Self.queueFull.because(reason("fetch.queue is full, or too few files can be opened"))
        case .queueTimedOut:
            self = Self.queueTimeout.because(reason("no slot for the fetch within fetch.queueTimeout"))
        case .storage(let text): self = .internalFailure(text)
        case .cancelled: self = .clientLeft
        }
    }

    /// Translates what the renderer says; libvips' texts stay behind.
    package init(_ error: RenderError) {
        switch error {
        case .notAnImage: self = .notAnImage
        case .unsupportedFormat(let name): self = .unsupportedFormat(name)
        case .tooManyPixels(let why): self = Self.tooManyPixels.explained(why)
        case .resultTooLarge(let why): self = Self.resultTooLarge.explained(why)
        case .tooManyFrames(let why): self = Self.tooManyFrames.explained(why)
        case .badImageData(let text): self = Self.badImageData.because(FailureReason(text))
        case .outOfMemory:
            self = Self.outOfMemory.explained("its pixels take more memory than transform.memoryPerWorker")
        case .decoderCrashed: self = .decoderCrashed
        case .workerKilled: self = .workerKilled
        case .timedOut: self = Self.transformTimeout.loggingDetail()
        case .frameOutOfRange(let why): self = Self.frameOutOfRange.explained(why)
        case .emptyResult(let why): self = Self.emptyResult.explained(why)
        case .tooManyBytes(let why): self = Self.resultTooHeavy.explained(why)
        case .tooMuchWork(let work, let limit): self = .tooMuchWork(work, limit: limit)
        case .queueFull:
            self = Self.queueFull.because(
                FailureReason("transform.queue is full, or too few files can be opened"))
        case .queueTimedOut:
            self = Self.queueTimeout.because(FailureReason("no worker within transform.queueTimeout"))
        case .starved:
            self = Self.queueTimeout.because(
                FailureReason("a processor for less than three quarters of transform.timeout"))
        case .unavailable(let text): self = .engineUnavailable(text)
        case .notWritten(let text), .systemFailure(let text): self = .internalFailure(text)
        case .watermarkUnreadable(let text): self = .internalFailure("the watermark can't be read: \(text)")
        case .cancelled: self = .clientLeft
        }
    }
}
