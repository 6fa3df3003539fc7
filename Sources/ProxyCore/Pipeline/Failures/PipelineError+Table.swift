// SPDX-License-Identifier: Apache-2.0

import Cache
import Imaging
package import Observability

/// The table of errors: status, code, title; as what a failure is remembered and of what; where the fault lies; metric labels.
extension PipelineError {
    // MARK: - The request

    static let missingParameter = PipelineError(
        400, "missing_parameter", "A required parameter is missing", cause: .request)
    /// The request should bring the picture, and brings nothing.
    package static var missingUpload: PipelineError {
        Self.missingParameter.about("url").saying("the request has no body, and names no source")
    }
    /// The same of a form without the part that should be the picture.
    package static var missingUploadPart: PipelineError {
        Self.missingParameter.about("url").saying(
            "the form has no part named 'file', which is the picture, and the request names no source")
    }
    /// A form that was cut off, and its picture perhaps, too.
    package static var incompleteForm: PipelineError {
        Self.invalidParameter.saying(
            "the form ends without its last delimiter ('--', the boundary, '--'), so the picture may be cut off"
        )
    }
    static let invalidParameter = PipelineError(
        400, "invalid_parameter", "A parameter has a value that is not allowed", cause: .request)
    static let unknownParameter = PipelineError(
        400, "unknown_parameter", "There is no such parameter", cause: .request)
    static let invalidURL = PipelineError(
        400, "invalid_url", "The source URL can't be used", cause: .request)
    static let unsupportedScheme = PipelineError(
        400, "unsupported_scheme", "The source URL's scheme is not supported", cause: .request)
    /// The configuration does not allow this source, or what it redirects to.
    static let sourceForbidden = PipelineError(
        403, "source_forbidden", "This source is not allowed", cause: .request, fetch: .forbidden)
    static let signatureRequired = PipelineError(
        403, "signature_required", "The URL must be signed", cause: .request,
        detail: "its query has to end with '&sig=' and a signature by a key of security.keys")
    static let signatureMismatch = PipelineError(
        403, "signature_mismatch", "The URL's signature does not fit", cause: .request,
        detail: "what is signed is path and query as they are sent, up to but without '&sig='")
    static let optionForbidden = PipelineError(
        403, "option_forbidden", "This needs a signed URL", cause: .request)
    static let presetRequired = PipelineError(
        403, "option_forbidden", "Only a preset may change the picture", cause: .request)
    /// Another proxy's URL can't be translated.
    static let untranslated = PipelineError(
        400, "untranslated", "The other proxy's URL has no translation", cause: .request)
    static let dialectOptionForbidden = PipelineError(
        403, "option_forbidden", "The settings do not allow this", cause: .request)
    static let nothingThere = PipelineError(
        404, "not_found", "There is nothing at this path", cause: .request)
    static let urlExpired = PipelineError(
        410, "url_expired", "The URL is no longer valid", cause: .request,
        detail: "the time of its parameter 'expires' has passed")
    /// The address that stands in the source's URL is private, special or denied.
    static let addressForbidden = PipelineError(
        403, "address_forbidden", "The source's address is not allowed", cause: .request, origin: .unknown,
        fetch: .forbidden,
        detail: "a private or special network is asked only where security.allowedNetworks names it, and a "
            + "port of another service than HTTP only where security.ports does")
    private static let rateLimited = PipelineError(
        429, "too_many_requests", "Too many requests from one client", cause: .request,
        detail: "security.rateLimit allows no more of them now")
    /// The client wants a stored answer or none, and none is stored.
    static let notCached = PipelineError(
        504, "not_cached", "Nothing is stored that may be served", cause: .request)

    // MARK: - The source

    private static let notFound = PipelineError(
        404, "upstream_not_found", "The origin has no such image", remembered: .notFound, cause: .source,
        fetch: .notFound)
    static let notAnImage = PipelineError(
        415, "not_an_image", "The source is not an image", remembered: .notAnImage, cause: .source,
        detail: readFormats)
    private static let unreadFormat = PipelineError(
        415, "unsupported_format", "The image format is not supported", remembered: .notAnImage,
        cause: .source, transform: .unsupported)
    static let sourceTooLarge = PipelineError(
        422, "source_too_large", "The source has too many bytes", remembered: .badImage, cause: .source,
        fetch: .tooLarge)
    static let tooManyPixels = PipelineError(
        422, "too_many_pixels", "The image has too many pixels", remembered: .badImage, cause: .source,
        transform: .limit)
    static let tooManyFrames = PipelineError(
        422, "too_many_frames", "The image has too many frames", remembered: .badImage, cause: .source,
        transform: .limit)
    // These are remembered of the source once its decoding alone has failed, too: see `ImageJob.verifyDecoding`.
    static let badImageData = PipelineError(
        422, "bad_image_data", "The image is damaged", remembered: .badImage, of: .result, cause: .source,
        transform: .badImage)
    static let decoderCrashed = PipelineError(
        422, "decoder_crashed", "The image ended its decoder", remembered: .badImage, of: .result,
        cause: .source, transform: .crashed)
    static let transformTimeout = PipelineError(
        422, "transform_timeout", "The transform took too long", remembered: .badImage, of: .result,
        cause: .sourceOrPlan, transform: .timeout, detail: "it took longer than transform.timeout")
    /// The request has passed this daemon before, or would.
    package static let loopDetected = PipelineError(
        508, "loop_detected", "The source leads back here", cause: .source, fetch: .status,
        detail: "the request has passed a daemon of the same name; those that fetch from one another need "
            + "different ones in fetch.via")

    // MARK: - The plan

    static let outOfMemory = PipelineError(
        422, "too_many_pixels", "The image needs too much memory", remembered: .badImage, of: .result,
        cause: .plan, transform: .limit)
    // Not remembered: the source serves others, and a signed URL for the same result may go further.
    static let resultTooLarge = PipelineError(
        422, "too_many_pixels", "The result would have too many pixels", cause: .plan, transform: .limit)
    private static let tooMuchWork = PipelineError(
        422, "too_much_work", "The transform is too much work", cause: .plan, transform: .limit)
    static let resultTooHeavy = PipelineError(
        422, "max_bytes_unreachable", "No quality takes as few bytes as max_bytes", cause: .plan,
        transform: .empty)
    /// A picture in base64 takes a third more, and is made for each answer.
    package static let dataURLTooLarge = PipelineError(
        422, "data_url_too_large", "The picture is too large for a data URL", cause: .plan, transform: .empty,
        detail: "a data URL is made of a picture of at most 1 MiB")
    static let frameOutOfRange = PipelineError(
        422, "frame_out_of_range", "The image has no such frame", cause: .plan, transform: .empty)
    static let emptyResult = PipelineError(
        422, "empty_result", "The transform leaves no pixel", cause: .plan, transform: .empty)

    // MARK: - The origin

    private static let failingStatus = PipelineError(
        502, "upstream_status", "The origin answered with an error", cause: .origin, fetch: .status)
    /// A retry with the same request is unlikely to help.
    private static let lastingStatus = PipelineError(
        502, "upstream_status", "The origin answered with an error", remembered: .clientError, cause: .source,
        fetch: .status)
    private static let pausingStatus = PipelineError(
        502, "upstream_status", "The origin answered with an error", remembered: .retryAfter, cause: .origin,
        fetch: .status)
    /// The origin's answer broke off or was malformed.
    static let upstreamIncomplete = PipelineError(
        502, "upstream_incomplete", "The origin's answer was incomplete", cause: .origin, fetch: .incomplete)
    /// The origin could not be connected to.
    static let upstreamUnreachable = PipelineError(
        502, "upstream_unreachable", "The origin can't be reached", cause: .origin, origin: .notConnected,
        fetch: .unreachable, detail: unreachableDetail)
    /// The source's name resolves to private, special or denied addresses alone.
    ///
    /// To clients the same as `upstreamUnreachable` in all: the difference would tell which internal names there are.
    static let nameForbidden = PipelineError(
        502, "upstream_unreachable", "The origin can't be reached", cause: .origin, origin: .notConnected,
        fetch: .forbidden, detail: unreachableDetail, logCode: "address_forbidden")
    /// The origin took the request, and ended the connection without an answer.
    static let upstreamDisconnected = PipelineError(
        502, "upstream_unreachable", "The origin ended the connection without an answer",
        remembered: .unanswered, cause: .origin, origin: .connected, fetch: .unreachable)
    static let tlsFailed = PipelineError(
        502, "tls_failed", "TLS with the origin failed", remembered: .connection, cause: .origin,
        origin: .notConnected, fetch: .tls)
    static let tooManyRedirects = PipelineError(
        502, "too_many_redirects", "The origin redirects too often", remembered: .connection, cause: .origin,
        fetch: .redirects)
    static let upstreamConnectTimeout = PipelineError(
        504, "upstream_timeout", "The origin was too slow", cause: .origin, origin: .notConnected,
        fetch: .timeout, detail: "no connection within fetch.connectTimeout")
    /// The origin was too slow to answer.
    static let upstreamTimeout = PipelineError(
        504, "upstream_timeout", "The origin was too slow", remembered: .unanswered, cause: .origin,
        origin: .connected, fetch: .timeout, detail: "no answer within fetch.firstByteTimeout")
    /// The origin's answer took too long, or was too slow.
    static let upstreamTransferTimeout = PipelineError(
        504, "upstream_timeout", "The origin was too slow", remembered: .unanswered, cause: .origin,
        origin: .unknown, fetch: .timeout,
        detail: "fetch.totalTimeout has passed, or it was slower than fetch.lowSpeed")

    static let noKeys = PipelineError(
        502, "upstream_credentials", "There are no valid keys for the origin", cause: .daemon, fetch: .keys)

    // MARK: - The daemon

    private static let breakerOpen = PipelineError(
        503, "host_unavailable", "The origin fails too often and is left alone for a while",
        cause: .pausedOrigin)
    private static let clientPaused = PipelineError(
        503, "host_unavailable", "The origin wants fewer requests and is left alone for a while",
        cause: .pausedOrigin)
    package static let queueFull = PipelineError(
        503, "queue_full", "Too much is waiting already", cause: .daemon, retryAfter: 1, fetch: .queue,
        transform: .queue)
    static let queueTimeout = PipelineError(
        503, "queue_timeout", "No place became free in time", cause: .daemon, retryAfter: 1, fetch: .queue,
        transform: .queue)
    static let workerKilled = PipelineError(
        503, "worker_killed", "The image's worker was killed from outside", cause: .daemon, retryAfter: 1,
        fetch: .storage, transform: .crashed)
    private static let noWorker = PipelineError(
        503, "engine_unavailable", "No worker could be started", cause: .daemon, retryAfter: 1,
        fetch: .storage, transform: .unavailable)
    private static let internalError = PipelineError(
        500, "internal_error", "Something failed inside the server", cause: .daemon, fetch: .storage,
        transform: .unavailable)
    /// The client left before its answer was ready.
    package static let clientLeft = PipelineError(
        499, "client_left", "The client left", cause: .client, fetch: .cancelled, transform: .cancelled)
}

/// Failures of which more is known than their row.
extension PipelineError {
    /// The client asks too often.
    package static func tooManyRequests(retryAfter seconds: Int) -> PipelineError {
        rateLimited.after(seconds: seconds)
    }

    /// The origin has no such resource (404, 410).
    static func upstreamNotFound(status: Int) -> PipelineError { notFound.answered(status) }

    /// Whether the origin has said that there is no such resource.
    var isNotFound: Bool { row == Self.notFound.row }

    /// The origin answered with another error.
    static func upstreamStatus(_ status: Int, retryAfter seconds: Int?) -> PipelineError {
        let isLasting = (400..<500).contains(status) && ![408, 425, 429].contains(status)
        let row = isLasting ? lastingStatus : seconds == nil ? failingStatus : pausingStatus
        // What is remembered for its class's time gets no other time of the origin's.
        let failure = row.answered(status).after(seconds: isLasting ? nil : seconds)
        guard (200..<300).contains(status) else { return failure }
        return failure.explained(
            """
            the origin answered \(status), whose body is taken only where acceptStatus of an origin rule names it
            """)
    }

    /// The origin could not be connected to several times in a row, and is not asked for a while.
    static func hostUnavailable(retryAfter seconds: Int) -> PipelineError {
        breakerOpen.after(seconds: seconds).because(
            FailureReason("failedURLs.breaker: it could not be connected to; asked again in \(seconds) s"))
    }

    /// The origin has answered 429 to this client several times in a row, and is not asked for it for a while.
    static func hostBusy(retryAfter seconds: Int) -> PipelineError {
        clientPaused.after(seconds: seconds).because(
            FailureReason("failedURLs.breaker: it answered this client 429; asked again in \(seconds) s"))
    }

    /// Whether it was refused because of the client that asked, and would not be for another.
    var isClientPaused: Bool { row == Self.clientPaused.row }

    /// Whether it was refused because of the client that asked, or of a queue, and may not be in the next moment.
    var isOfCaller: Bool { isClientPaused || row == Self.queueFull.row || row == Self.queueTimeout.row }

    /// The source's or the wanted format is not supported here.
    package static func unsupportedFormat(_ name: String) -> PipelineError {
        if let traits = ImageFormat(rawValue: name)?.traits {
            let use = traits.isWritable && traits.isWrittenOnlyIfRead ? "read and written" : "read"
            return unreadFormat.explained(
                "'\(name)' is \(use) only where the setting formats.decode names it")
        }
        return unreadFormat.explained("'\(name)' is not supported; \(readFormats)")
    }

    /// The plan takes more work than one without a signature may: both in weighted megapixels.
    static func tooMuchWork(_ work: Int, limit: Int) -> PipelineError {
        tooMuchWork.explained(
            """
            the transform takes the work of \(work) megapixels, and limits.unsignedWork is \(limit); \
            a signed URL may go further
            """)
    }

    /// No worker could be started, or none that can work; why, is in the log.
    static func engineUnavailable(_ text: String) -> PipelineError { noWorker.failed(text) }

    /// Something in the daemon itself failed; what, is in the log.
    package static func internalFailure(_ text: String) -> PipelineError { internalError.failed(text) }

    private static let unreachableDetail =
        "its name does not resolve, nothing answers there, or its address is in a private network that "
        + "security.allowedNetworks does not name"

    /// What is read, by default and where the configuration says so.
    private static let readFormats: String = {
        let defaults = FormatsConfiguration().decode
        let others = ImageFormat.allCases.filter { !defaults.contains($0) }
        let names = [defaults, others].map { $0.map(\.rawValue).joined(separator: ", ") }
        return "read are \(names[0]), and \(names[1]) where the setting formats.decode names them"
    }()
}

extension PipelineError.Row {
    /// Where the fault of a request that failed so lies, for the metrics.
    package var failureCause: Metric.FailureCause {
        switch cause {
        case .request, .plan, .client: .client
        case .source, .sourceOrPlan: .source
        case .origin, .pausedOrigin: .origin
        case .daemon: .daemon
        }
    }
}
