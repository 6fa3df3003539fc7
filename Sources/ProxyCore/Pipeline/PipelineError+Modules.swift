// SPDX-License-Identifier: Apache-2.0

/// What the pipeline makes of other modules' errors.
extension PipelineError {
    /// Translates what is wrong with a request.
    public init(_ error: ImageRequestError) {
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
                .saying("'\(scheme)' is not supported, only http and https are")
        case .sourceForbidden: self = .sourceForbidden
        case .signatureRequired: self = .signatureRequired
        case .signatureMismatch: self = .signatureMismatch
        case .optionForbidden(let name):
            self = Self.optionForbidden
                .saying("'\(name)' is for signed URLs, or where the configuration allows it")
        case .presetRequired(let name):
            self = Self.presetRequired.saying(
                "'\(name)' changes the picture, which security.onlyPresets leaves to preset=NAME, also in "
                    + "signed URLs")
        case .urlExpired: self = .urlExpired
        }
    }

    /// Translates what the loader says; its texts go into the reason, for the log alone.
    /// - Parameter hop: where the fetch failed, unless that is the source's own origin.
    init(_ error: LoadError, at hop: SourceURL.Origin? = nil) {
        func reason(_ text: String) -> FailureReason { FailureReason(text, at: hop) }
        switch error {
        case .addressForbidden: self = .addressForbidden
        case .nameForbidden: self = .nameForbidden(reason("its addresses are private or denied"))
        case .redirectForbidden: self = .sourceForbidden
        case .unreachable(let text): self = .upstreamUnreachable(reason(text))
        case .disconnected(let text): self = .upstreamDisconnected(reason(text))
        case .tlsFailed(let text): self = .tlsFailed(reason(text))
        case .tooManyRedirects: self = .tooManyRedirects
        case .timedOut(.connect):
            self = .upstreamConnectTimeout(reason("no connection within fetch.connectTimeout"))
        case .timedOut(.firstByte):
            self = .upstreamTimeout(reason("no answer within fetch.firstByteTimeout"))
        case .timedOut(.transfer):
            self = .upstreamTransferTimeout(
                reason("fetch.totalTimeout has passed, or it was slower than fetch.lowSpeed"))
        case .tooLarge: self = .sourceTooLarge
        case .incomplete(let text): self = .upstreamIncomplete(reason(text))
        case .status(404, _): self = .upstreamNotFound(status: 404)
        case .status(410, _): self = .upstreamNotFound(status: 410)
        // Another instance, or this one behind a name of its own, has recognised our request.
        case .status(508, _): self = .loopDetected
        case .status(let status, let retryAfter): self = .upstreamStatus(status, retryAfter: retryAfter)
        case .notAnImage: self = .notAnImage
        case .unsupportedFormat(let name): self = .unsupportedFormat(name)
        case .unusable(let error): self = PipelineError(error)
        case .queueFull: self = .queueFull
        case .queueTimedOut: self = .queueTimeout
        case .storage(let text): self = .internalFailure(text)
        case .cancelled: self = .clientLeft
        }
    }

    /// Translates what the renderer says; libvips' texts stay behind.
    init(_ error: RenderError) {
        switch error {
        case .notAnImage: self = .notAnImage
        case .unsupportedFormat(let name): self = .unsupportedFormat(name)
        case .tooManyPixels: self = .tooManyPixels
        case .resultTooLarge: self = .resultTooLarge
        case .tooManyFrames: self = .tooManyFrames
        case .badImageData: self = .badImageData
        case .outOfMemory: self = .outOfMemory
        case .decoderCrashed: self = .decoderCrashed
        case .workerKilled: self = .workerKilled
        case .timedOut: self = .transformTimeout
        case .frameOutOfRange: self = .frameOutOfRange
        case .emptyResult: self = .emptyResult
        case .tooManyBytes: self = .resultTooHeavy
        case .tooMuchWork(let work, let limit): self = .tooMuchWork(work, limit: limit)
        case .queueFull: self = .queueFull
        case .queueTimedOut: self = .queueTimeout
        case .unavailable(let text): self = .engineUnavailable(text)
        case .notWritten(let text): self = .internalFailure(text)
        case .watermarkUnreadable(let text): self = .internalFailure("the watermark can't be read: \(text)")
        case .cancelled: self = .clientLeft
        }
    }
}
