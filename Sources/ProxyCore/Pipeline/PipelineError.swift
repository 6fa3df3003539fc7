// SPDX-License-Identifier: Apache-2.0

/// Every way a request for an image can fail, as a client may be told. The table of `disposition` is its HTTP face.
///
/// Text in a case is safe to show: it names what is wrong with the request. What libcurl, libvips or the kernel said
/// stays in the log: a `FailureReason`, which is not compared.
public enum PipelineError: Error, Sendable, Hashable {
    /// A required parameter is absent.
    case missingParameter(String)
    /// A parameter's value is wrong at `position`, an offset in bytes into its decoded value.
    case invalidParameter(name: String, position: Int, reason: String)
    /// There is no such parameter; `hint` may say what was meant.
    case unknownParameter(name: String, hint: String?)
    /// The source URL can't be used; `position` as above.
    case invalidURL(position: Int, reason: String)
    /// The source URL's scheme is neither `http` nor `https`.
    case unsupportedScheme(String)
    /// The configuration does not allow this source.
    case sourceForbidden
    /// The target has no signature, and needs one.
    case signatureRequired
    /// The target's signature was made with no key of ours, or over something else.
    case signatureMismatch
    /// The option, or parameter, is not for everybody.
    case optionForbidden(String)
    /// The parameter changes the picture, and the configuration has presets alone do that.
    case presetRequired(String)
    /// The URL's time is over.
    case urlExpired
    /// The address that stands in the source's URL is private, special or denied.
    case addressForbidden
    /// The source's name resolves to such addresses alone.
    ///
    /// To clients the same as `upstreamUnreachable` in all: the difference would tell which internal names there are.
    case nameForbidden(FailureReason = .none)
    /// The origin has no such resource (404, 410).
    case upstreamNotFound(status: Int)
    /// The source is no image.
    case notAnImage
    /// The source's or the wanted format is not supported here.
    case unsupportedFormat(String)
    /// The source has more bytes than allowed.
    case sourceTooLarge
    /// The source has more pixels, or a longer side, than allowed.
    case tooManyPixels
    /// The result would have more pixels than allowed, or a longer side than its format can have.
    case resultTooLarge
    /// The plan takes more work than one without a signature may: both in weighted megapixels.
    case tooMuchWork(Int, limit: Int)
    /// No quality takes as few bytes as `max_bytes` wants.
    case resultTooHeavy
    /// The source has more frames than allowed.
    case tooManyFrames
    /// The source's bytes are damaged.
    case badImageData
    /// What is wanted of the source needs more memory than a worker may have.
    case outOfMemory
    /// The source ended the decoder.
    case decoderCrashed
    /// The worker was killed from outside, twice: nothing is known against the source.
    case workerKilled
    /// The transform took longer than allowed.
    case transformTimeout
    /// `frame` names a frame that the source lacks.
    case frameOutOfRange
    /// An operation left no pixel.
    case emptyResult
    /// The origin answered with another error.
    case upstreamStatus(Int, retryAfter: Int?)
    /// The origin's answer broke off or made no sense.
    case upstreamIncomplete(FailureReason = .none)
    /// The origin could not be connected to.
    case upstreamUnreachable(FailureReason = .none)
    /// The origin took the request, and ended the connection without an answer.
    case upstreamDisconnected(FailureReason = .none)
    /// TLS with the origin failed.
    case tlsFailed(FailureReason = .none)
    /// The origin redirects too often.
    case tooManyRedirects
    /// The origin was too slow to answer.
    case upstreamTimeout(FailureReason = .none)
    /// The origin was too slow to connect to.
    case upstreamConnectTimeout(FailureReason = .none)
    /// The origin could not be connected to several times in a row, and is left alone for a while.
    case hostUnavailable(retryAfter: Int)
    /// The origin has answered 429 to this client several times in a row, and is not asked for it for a while.
    case hostBusy(retryAfter: Int)
    /// The request has passed this daemon before, or would.
    case loopDetected
    /// The client asks too often; carries the seconds after which it may ask again.
    case tooManyRequests(retryAfter: Int)
    /// The client wants a stored answer or none, and none is stored.
    case notCached
    /// A queue is full.
    case queueFull
    /// A place in a queue did not come up in time.
    case queueTimeout
    /// The daemon is shutting down.
    case draining
    /// The client left before its answer was ready.
    case clientLeft
    /// No worker could be started, or none that can work; why, is in the log.
    case engineUnavailable(String)
    /// Something in the daemon itself failed; what, is in the log.
    case internalFailure(String)
}

extension PipelineError {
    /// How one kind of failure looks from outside, and how long it is remembered.
    public struct Disposition: Sendable, Hashable {
        /// The status code of the answer.
        public let status: Int
        /// The stable, machine-readable name of the failure: `code` of the problem document.
        public let code: String
        /// One short sentence for people: `title` of the problem document.
        public let title: String
        /// Whether and as what the blacklist remembers it.
        public let memory: Memory?

        /// What the blacklist keeps.
        public struct Memory: Sendable, Hashable {
            /// The class, which decides the time.
            public let kind: FailureClass
            /// Whether the source or only this result is refused.
            public let scope: Scope
        }

        /// What a remembered failure refuses.
        public enum Scope: Sendable, Hashable {
            /// Every fetch of the source.
            case source
            /// The transform for this result.
            case result
        }

        init(
            _ status: Int, _ code: String, _ title: String, _ kind: FailureClass? = nil,
            _ scope: Scope = .source
        ) {
            self.status = status
            self.code = code
            self.title = title
            memory = kind.map { Memory(kind: $0, scope: scope) }
        }
    }

    /// The failure's row in the table of errors.
    public var disposition: Disposition {
        switch self {
        case .missingParameter: Disposition(400, "missing_parameter", "A required parameter is missing")
        case .invalidParameter:
            Disposition(400, "invalid_parameter", "A parameter has a value that is not allowed")
        case .unknownParameter: Disposition(400, "unknown_parameter", "There is no such parameter")
        case .invalidURL: Disposition(400, "invalid_url", "The source URL can't be used")
        case .unsupportedScheme:
            Disposition(400, "unsupported_scheme", "The source URL's scheme is not supported")
        case .sourceForbidden: Disposition(403, "source_forbidden", "This source is not allowed")
        case .signatureRequired:
            Disposition(403, "signature_required", "The URL must be signed")
        case .signatureMismatch:
            Disposition(403, "signature_mismatch", "The URL's signature does not fit")
        case .optionForbidden: Disposition(403, "option_forbidden", "This needs a signed URL")
        case .presetRequired: Disposition(403, "option_forbidden", "Only a preset may change the picture")
        case .urlExpired: Disposition(410, "url_expired", "The URL is no longer valid")
        case .addressForbidden: Disposition(403, "address_forbidden", "The source's address is not allowed")
        case .upstreamNotFound:
            Disposition(404, "upstream_not_found", "The origin has no such image", .notFound)
        case .notAnImage: Disposition(415, "not_an_image", "The source is not an image", .notAnImage)
        case .unsupportedFormat:
            Disposition(415, "unsupported_format", "The image format is not supported", .notAnImage)
        case .sourceTooLarge: Disposition(422, "source_too_large", "The source has too many bytes", .badImage)
        case .tooManyPixels: Disposition(422, "too_many_pixels", "The image has too many pixels", .badImage)
        // Not remembered: the request is to blame, and the source serves others.
        case .resultTooLarge: Disposition(422, "too_many_pixels", "The result would have too many pixels")
        // Nor this: a signed URL for the same result may go further.
        case .tooMuchWork: Disposition(422, "too_much_work", "The transform is too much work")
        case .resultTooHeavy:
            Disposition(422, "max_bytes_unreachable", "No quality takes as few bytes as max_bytes")
        case .tooManyFrames: Disposition(422, "too_many_frames", "The image has too many frames", .badImage)
        // These three are remembered of the source once its decoding alone has failed, too: see `ImagePipeline.verify`.
        case .badImageData: Disposition(422, "bad_image_data", "The image is damaged", .badImage, .result)
        case .outOfMemory:
            Disposition(422, "too_many_pixels", "The image needs too much memory", .badImage, .result)
        case .decoderCrashed:
            Disposition(422, "decoder_crashed", "The image ended its decoder", .badImage, .result)
        case .workerKilled:
            Disposition(503, "worker_killed", "The image's worker was killed from outside")
        case .transformTimeout:
            Disposition(422, "transform_timeout", "The transform took too long", .badImage, .result)
        case .frameOutOfRange: Disposition(422, "frame_out_of_range", "The image has no such frame")
        case .emptyResult: Disposition(422, "empty_result", "The transform leaves no pixel")
        case .upstreamStatus(let status, let seconds):
            Disposition(
                502, "upstream_status", "The origin answered with an error",
                Self.isLasting(status) ? .clientError : seconds.map { _ in .retryAfter })
        case .upstreamIncomplete:
            Disposition(502, "upstream_incomplete", "The origin's answer was incomplete")
        case .upstreamUnreachable, .nameForbidden:
            Disposition(502, "upstream_unreachable", "The origin can't be reached")
        case .upstreamDisconnected:
            Disposition(
                502, "upstream_unreachable", "The origin ended the connection without an answer", .unanswered)
        case .tlsFailed: Disposition(502, "tls_failed", "TLS with the origin failed", .connection)
        case .tooManyRedirects:
            Disposition(502, "too_many_redirects", "The origin redirects too often", .connection)
        case .upstreamTimeout: Disposition(504, "upstream_timeout", "The origin was too slow", .unanswered)
        case .upstreamConnectTimeout: Disposition(504, "upstream_timeout", "The origin was too slow")
        case .hostUnavailable:
            Disposition(503, "host_unavailable", "The origin fails too often and is left alone for a while")
        case .hostBusy:
            Disposition(
                503, "host_unavailable", "The origin wants fewer requests and is left alone for a while")
        case .loopDetected: Disposition(508, "loop_detected", "The source leads back here")
        case .tooManyRequests: Disposition(429, "too_many_requests", "Too many requests from one client")
        case .notCached: Disposition(504, "not_cached", "Nothing is stored that may be served")
        case .queueFull: Disposition(503, "queue_full", "Too much is waiting already")
        case .queueTimeout: Disposition(503, "queue_timeout", "No place became free in time")
        case .draining: Disposition(503, "draining", "The server is shutting down")
        case .engineUnavailable: Disposition(503, "engine_unavailable", "No worker could be started")
        case .clientLeft: Disposition(499, "client_left", "The client left")
        case .internalFailure: Disposition(500, "internal_error", "Something failed inside the server")
        }
    }

    /// Whether a retry with the same request is unlikely to heal this status of an origin.
    private static func isLasting(_ status: Int) -> Bool {
        (400..<500).contains(status) && ![408, 425, 429].contains(status)
    }

    /// Seconds after which a retry makes sense; nil where waiting does not help.
    public var retryAfter: Int? {
        switch self {
        case .queueFull, .queueTimeout, .draining, .workerKilled, .engineUnavailable: 1
        case .upstreamStatus(_, let seconds): seconds
        case .hostUnavailable(let seconds), .hostBusy(let seconds), .tooManyRequests(let seconds): seconds
        default: nil
        }
    }

    /// Whether it was refused because of the client that asked, and would not be for another.
    var isOfItsClient: Bool {
        if case .hostBusy = self { return true }
        return false
    }

    /// The same with the time that is left until a retry makes sense.
    func with(secondsLeft seconds: Int64) -> PipelineError {
        guard case .upstreamStatus(let status, _?) = self else { return self }
        return .upstreamStatus(status, retryAfter: Int(seconds))
    }

    /// What failed inside the daemon, for its log alone; nil where nothing did.
    public var fault: String? {
        switch self {
        case .internalFailure(let text), .engineUnavailable(let text): text
        default: nil
        }
    }

    /// The failure's name in the access log, which tells the operator more than a client may know.
    public var logCode: String {
        self == .nameForbidden() ? Self.addressForbidden.disposition.code : disposition.code
    }

    /// What was said of the failure, for the access log alone.
    public var reason: FailureReason {
        switch self {
        case .nameForbidden(let reason), .upstreamIncomplete(let reason), .upstreamUnreachable(let reason),
            .upstreamDisconnected(let reason), .tlsFailed(let reason), .upstreamTimeout(let reason),
            .upstreamConnectTimeout(let reason):
            reason
        case .internalFailure(let text), .engineUnavailable(let text): FailureReason(text)
        default: .none
        }
    }

    /// One sentence about this very failure: `detail` of the problem document.
    public var detail: String? {
        switch self {
        case .missingParameter(let name): "the parameter '\(name)' is required"
        case .invalidParameter(let name, let position, let reason):
            "parameter '\(name)', position \(position): \(reason)"
        case .unknownParameter(let name, let hint):
            "'\(name)' is no parameter" + (hint.map { "; \($0)" } ?? "")
        case .invalidURL(let position, let reason): "parameter 'url', position \(position): \(reason)"
        case .unsupportedScheme(let scheme): "'\(scheme)' is not supported, only http and https are"
        case .unsupportedFormat(let name) where ImageFormat(rawValue: name) != nil:
            "'\(name)' is read only where the setting formats.decode names it"
        case .unsupportedFormat(let name): "'\(name)' is not supported; \(Self.readFormats)"
        case .notAnImage: Self.readFormats
        case .addressForbidden:
            "a private or special network is asked only where security.allowedNetworks names it, and a port of "
                + "another service than HTTP only where security.ports does"
        case .tooMuchWork(let work, let limit):
            """
            the transform takes the work of \(work) megapixels, and limits.unsignedWork is \(limit); \
            a signed URL may go further
            """
        case .optionForbidden(let name): "'\(name)' is for signed URLs, or where the configuration allows it"
        case .presetRequired(let name):
            "'\(name)' changes the picture, which security.onlyPresets leaves to preset=NAME, also in signed URLs"
        case .upstreamNotFound(let status), .upstreamStatus(let status, _): "the origin answered \(status)"
        case .upstreamUnreachable, .nameForbidden:
            "its name does not resolve, nothing answers there, or its address is in a private network that "
                + "security.allowedNetworks does not name"
        default: nil
        }
    }

    /// What is read, by default and where the configuration says so.
    private static let readFormats: String = {
        let defaults = FormatsConfiguration().decode
        let others = ImageFormat.allCases.filter { !defaults.contains($0) }
        let names = [defaults, others].map { $0.map(\.rawValue).joined(separator: ", ") }
        return "read are \(names[0]), and \(names[1]) where the setting formats.decode names them"
    }()

    /// The same where the parameter has been named already: in the settings, under the preset's key.
    public var statement: String? {
        switch self {
        case .invalidParameter(_, let position, let reason):
            position == 0 ? reason : "position \(position): \(reason)"
        default: detail
        }
    }

    /// The parameter at fault, and where in its decoded value.
    public var parameter: (name: String, position: Int?)? {
        switch self {
        case .missingParameter(let name), .unknownParameter(let name, _): (name, nil)
        case .invalidParameter(let name, let position, _): (name, position)
        case .invalidURL(let position, _): ("url", position)
        case .unsupportedScheme: ("url", 0)
        default: nil
        }
    }

    /// The origin's status code, where it is the reason.
    public var upstreamStatus: Int? {
        switch self {
        case .upstreamNotFound(let status), .upstreamStatus(let status, _): status
        default: nil
        }
    }
}
