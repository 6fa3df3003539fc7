// SPDX-License-Identifier: Apache-2.0

package import Bodies
import Cache
import Freshness
package import HTTPServer
package import Observability
package import Pipeline
package import Primitives
package import Request

/// Maps results of the pipeline to HTTP: 200, 304, or a problem document.
package struct ResponseMapping: Sendable {
    let crossOrigin: CrossOriginPolicy
    /// The route that is answered.
    let route: Metric.Route

    package init(crossOrigin: CrossOriginPolicy, route: Metric.Route) {
        self.crossOrigin = crossOrigin
        self.route = route
    }

    /// Hot path: the answer to a memory hit.
    func answerHit(
        _ alias: Alias, _ cached: ImagePipeline.CachedEntry, to request: HTTPRequest, at now: WallTime,
        with response: inout HTTPResponse
    ) {
        let entry = cached.entry
        answer(request, entry.body, alias.validators, at: now.seconds, with: &response)
        switch response.status {
        case .ok, .partialContent: response.prepared = alias.head
        case .notModified: response.prepared = alias.notModifiedHead
        default:
            let variant = alias.variant
            let vary = crossOrigin.vary(onAccept: variant.acceptClass != nil, onDPR: variant.isHinted)
            return addCORSFields(&response, with: request, vary: vary)
        }
        crossOrigin.apply(to: &response, for: request)
        let age = entry.record.currentAge(at: now)
        alias.lifetimes?.append(to: &response.fields, age: age)
        response.scratch.append(.age, integer: age)
        // Below zero for a stale one (RFC 9211 §2.4).
        response.scratch.append(
            .cacheStatus, "imageproxyd; hit; ttl=", integer: entry.record.reuse.freshnessLifetime - age,
            cached.isStale
                ? "; detail=stale-while-revalidate" : entry.isOnDisk ? "; detail=disk" : "; detail=memory")
        // Retained until the answer has been sent: an entry that is evicted meanwhile can be found again. The log has the
        // source's URL from it.
        response.note = entry
        let tier: Metric.Cache = entry.isOnDisk ? .disk : .memory
        response.context = ExchangeContext(route, cached.isStale ? .stale : tier).packed
    }

    /// The answer of the cold path.
    func response(
        _ image: ImageResponse, _ heads: ImageHeads, request: HTTPRequest, at now: WallTime
    ) -> HTTPResponse {
        var response = HTTPResponse(status: .ok)
        answer(request, image.body, heads.validators, at: now.seconds, with: &response)
        switch response.status {
        case .ok, .partialContent:
            response.prepared = heads.full
        case .notModified: response.prepared = heads.notModified
        default:
            addCORSFields(&response, with: request, vary: heads.vary)
            return response
        }
        crossOrigin.apply(to: &response, for: request)
        let age = image.record.currentAge(at: now)
        heads.lifetimes?.append(to: &response.fields, age: age)
        let ttl = image.record.reuse.freshnessLifetime - age
        if case .disk = image.provenance, !image.isCollapsed {
            response.scratch.append(.age, integer: age)
            response.scratch.append(.cacheStatus, "imageproxyd; hit; ttl=", integer: ttl, "; detail=disk")
        } else {
            response.fields.append(.age, text: "\(age)")
            response.fields.append(
                .cacheStatus,
                text: Self.cacheStatus(
                    image.provenance, status: image.originStatus, ttl: ttl, isStored: image.isStored,
                    isCollapsed: image.isCollapsed))
        }
        if let timing = Self.serverTiming(image.timings) {
            response.fields.append(.serverTiming, text: timing)
        }
        response.context = ExchangeContext(route, Metric.Cache(image)).packed
        return response
    }

    /// The answer of the cold path that is sent while the image is received; only to a request without range
    /// or conditions.
    /// - Parameter problem: the answer to a failure that occurs before anything has been sent.
    func response(
        _ image: StreamingImage, _ heads: ImageHeads, request: HTTPRequest, at now: WallTime,
        orElse problem: @escaping @Sendable (PipelineError) -> HTTPResponse
    ) -> HTTPResponse {
        var response = HTTPResponse(status: .ok)
        response.body = .stream(ImageBodyStream(image.body, orElse: problem), length: image.length)
        response.prepared = heads.full
        crossOrigin.apply(to: &response, for: request)
        let age = image.record.currentAge(at: now)
        heads.lifetimes?.append(to: &response.fields, age: age)
        response.fields.append(.age, text: "\(age)")
        response.fields.append(
            .cacheStatus,
            text: Self.cacheStatus(
                .fetched(image.isPrivate ? .request : .missing), status: image.originStatus, ttl: 0,
                isStored: image.isStored, isCollapsed: image.isCollapsed))
        response.context = ExchangeContext(route, image.isCollapsed ? .collapsed : .miss).packed
        return response
    }

    /// Text that is made of facts about a picture, for each answer: with the entity tag of its bytes.
    package func text(
        _ text: [UInt8], type: String, _ image: ImageResponse, _ imageRequest: ImageRequest,
        for request: HTTPRequest, at now: WallTime
    ) -> HTTPResponse {
        self.text(type: type, Validators(tagging: text), image, imageRequest, for: request, at: now) { text }
    }

    /// Text that is made of a picture, or of facts about it, for each answer.
    /// - Parameter make: makes the text; not called where the request's conditions need none.
    func text<Failure: Error>(
        type: String, _ validators: Validators, _ image: ImageResponse, _ imageRequest: ImageRequest,
        for request: HTTPRequest, at now: WallTime, make: () throws(Failure) -> [UInt8]
    ) throws(Failure) -> HTTPResponse {
        var lines = HTTPFields(reserving: 256)
        let age = image.record.currentAge(at: now)
        AnswerLifetimes(
            control: image.record.downstream(for: imageRequest), configuration: crossOrigin.downstream
        ).append(to: &lines, age: age)
        lines.append(.contentType, text: type)
        lines.append(.contentTypeOptions, text: "nosniff")
        let vary = crossOrigin.vary(onAccept: imageRequest.isNegotiated, onDPR: false)
        if let vary { lines.append(.vary, text: vary) }
        lines.append(crossOrigin.fields)
        if let tag = validators.entityTag { lines.append(.etag) { tag.append(to: &$0) } }
        var response = HTTPResponse(status: .ok)
        let text = validators.evaluate(request, at: now.seconds) == .proceed ? try make() : []
        answer(request, .bytes(text), validators, at: now.seconds, with: &response)
        // Its own fields: a problem document.
        if response.status.code == 412 { return response }
        response.prepared = PreparedFields(lines)
        crossOrigin.apply(to: &response, for: request)
        response.fields.append(.age, text: "\(age)")
        response.context = ExchangeContext(route, Metric.Cache(image)).packed
        return response
    }

    /// Hot path: status, body and range of the answer to a request for this body, by its conditions (RFC 9110
    /// §13.2.2).
    private func answer(
        _ request: HTTPRequest, _ stored: @autoclosure () -> StoredBody, _ validators: Validators,
        at now: Int64, with response: inout HTTPResponse
    ) {
        switch validators.evaluate(request, at: now) {
        case .notModified:
            response.status = .notModified
            return
        case .preconditionFailed:
            response = Self.failedPrecondition(ExchangeContext(route))
            return
        case .proceed: break
        }
        let body = HTTPBody(stored())
        let length = Int64(body.count)
        switch validators.selection(of: length, for: request, at: now) {
        // Several ranges of an image have no use: the answer is the whole image, as RFC 9110 §14.2 permits.
        case .whole, .parts: response.body = body
        case .part(let range):
            response.status = .partialContent
            response.fields.append(.contentRange, .contentRange(range, of: length))
            response.body = body.part(range)
        case .unsatisfiable:
            response = Self.problem(.rangeNotSatisfiable, context: ExchangeContext(route))
            response.fields.append(.contentRange, .contentRange(unsatisfiedOf: length))
        }
    }

    /// 412: the representation does not satisfy the request's conditions (RFC 9110 §15.5.13).
    static func failedPrecondition(_ context: ExchangeContext) -> HTTPResponse {
        problem(.preconditionFailed, context: context)
    }

    /// The answer to a request in our form whose formats were not negotiated.
    package func failure(_ error: PipelineError, to request: HTTPRequest) -> HTTPResponse {
        failure(error, to: request, compatible: nil, isNegotiated: false, remembered: nil)
    }

    /// The answer to a failure: not to be stored, unless the failure is remembered for a while.
    func failure(
        _ error: PipelineError, to request: HTTPRequest, compatible: CompatibleError?, isNegotiated: Bool,
        isHinted: Bool = false,
        remembered seconds: Int64?, placeholder: Placeholder? = nil,
        forwarding: ForwardingRecord.Outcome? = nil
    ) -> HTTPResponse {
        var document = ProblemDocument(error)
        document.status = compatible?.status ?? document.status
        let cache: Metric.Cache = if case .remembered? = forwarding { .failure } else { .none }
        var response = Self.problem(document, context: ExchangeContext(route, cache))
        if let json = compatible?.json {
            response.body = .bytes(json)
            response.fields.set(.contentType, text: "application/json")
        }
        if let seconds, seconds > 0 { response.fields.set(.cacheControl, text: "max-age=\(seconds)") }
        if let seconds = error.retryAfter { response.fields.append(.retryAfter, text: "\(seconds)") }
        if let forwarding {
            response.fields.append(
                .cacheStatus, text: Self.cacheStatus(ofFailure: forwarding, remembered: seconds ?? 0))
        }
        addCORSFields(
            &response, with: request, vary: crossOrigin.vary(onAccept: isNegotiated, onDPR: isHinted))
        placeholder?.replaceDocument(of: &response)
        return response
    }

    /// A redirect in place of a failure, which no cache may store: the next request may succeed.
    package func redirect(to url: String, for request: HTTPRequest) -> HTTPResponse {
        var response = HTTPResponse(status: HTTPStatus(302))
        response.fields.append(FieldName(literal: "Location"), text: url)
        response.fields.append(.cacheControl, text: "no-store")
        response.context = ExchangeContext(route).packed
        addCORSFields(&response, with: request, vary: nil)
        return response
    }

    /// Adds to a problem document the fields of CORS and `Vary`.
    private func addCORSFields(_ response: inout HTTPResponse, with request: HTTPRequest, vary: String?) {
        if let vary { response.fields.append(.vary, text: vary) }
        response.fields.append(crossOrigin.fields)
        crossOrigin.apply(to: &response, for: request)
    }

    /// A problem document as an answer that no cache stores.
    package static func problem(_ document: ProblemDocument, context: ExchangeContext) -> HTTPResponse {
        var response = HTTPResponse(status: HTTPStatus(UInt16(document.status)))
        response.fields.append(.contentType, text: "application/problem+json")
        response.fields.append(.cacheControl, text: "no-store")
        response.fields.append(.contentTypeOptions, text: "nosniff")
        response.body = .bytes(document.json)
        response.context = ExchangeContext(context.route, context.cache, cause: document.cause).packed
        response.note = ExchangeNote(document)
        return response
    }

    /// The answer to a method that a path does not have.
    /// - Parameters:
    ///   - allowed: the value of `Allow`.
    ///   - explanation: which are allowed by default.
    package static func methodNotAllowed(
        _ allowed: String, _ explanation: String? = nil, context: ExchangeContext
    ) -> HTTPResponse {
        var response = problem(
            .methodNotAllowed.explained(explanation ?? "allowed are \(allowed)"), context: context)
        response.fields.append(.allow, text: allowed)
        return response
    }

    /// RFC 9211: whether and why the request went forward.
    private static func cacheStatus(
        _ provenance: ImageResponse.Provenance, status: Int, ttl: Int64, isStored: Bool, isCollapsed: Bool
    ) -> String {
        var text =
            switch provenance {
            case .memory: "imageproxyd; hit; ttl=\(ttl); detail=memory"
            case .disk: "imageproxyd; hit; ttl=\(ttl); detail=disk"
            case .shared: "imageproxyd; hit; ttl=\(ttl); detail=shared"
            case .stored: "imageproxyd; hit; ttl=\(ttl); detail=original"
            case .revalidated(let reason): "imageproxyd; fwd=\(reason.token); fwd-status=304"
            case .fetched(let reason): "imageproxyd; fwd=\(reason.token); fwd-status=\(status)"
            case .stale(.whileRevalidating): "imageproxyd; hit; ttl=\(ttl); detail=stale-while-revalidate"
            case .stale(.asClientAllows): "imageproxyd; hit; ttl=\(ttl); detail=max-stale"
            case .stale(.onError(let error, wasAsked: true)):
                // A fresh copy is revalidated only at the client's request.
                "imageproxyd; fwd=\(ttl > 0 ? "request" : "stale")\(error.forwardedStatus); ttl=\(ttl); detail=stale-if-error"
            case .stale(.onError): "imageproxyd; hit; ttl=\(ttl); detail=stale-if-error"
            }
        if isStored, provenance.wasForwarded { text += "; stored" }
        if isCollapsed { text += "; collapsed" }
        return text
    }

    /// RFC 9211 for a failure: a remembered one is a hit, another one has the status of the origin.
    private static func cacheStatus(
        ofFailure forwarding: ForwardingRecord.Outcome, remembered seconds: Int64
    ) -> String {
        switch forwarding {
        case .remembered: return "imageproxyd; hit; ttl=\(seconds); detail=failure"
        case .asked(let reason, let status, let isCollapsed):
            var text = "imageproxyd; fwd=\(reason.token)"
            if let status { text += "; fwd-status=\(status)" }
            if seconds > 0 { text += "; stored" }
            if isCollapsed { text += "; collapsed" }
            return text
        }
    }

    /// The W3C's Server-Timing, in milliseconds; nil when nothing was made.
    private static func serverTiming(_ timings: ImageResponse.Timings) -> String? {
        let made = timings.queue + timings.fetch + timings.decode + timings.transform + timings.encode
        guard made > 0 else { return nil }
        let steps = [
            ("queue", timings.queue), ("fetch", timings.fetch), ("decode", timings.decode),
            ("transform", timings.transform), ("encode", timings.encode),
        ]
        let members = steps.filter { $0.1 > 0 }.map { name, microseconds in
            "\(name);dur=\(microseconds / 1_000).\(String(microseconds % 1_000 + 1_000).dropFirst())"
        }
        return members.isEmpty ? nil : members.joined(separator: ", ")
    }
}

extension ImageResponse.Provenance {
    /// Whether the request was forwarded to the origin (`fwd` of `Cache-Status`, RFC 9211).
    var wasForwarded: Bool {
        switch self {
        case .revalidated, .fetched: true
        case .memory, .disk, .shared, .stored, .stale: false
        }
    }
}

extension ImageResponse.Forwarding {
    /// The value of `fwd` (RFC 9211 §2.2).
    fileprivate var token: String {
        switch self {
        case .missing: "uri-miss"
        case .stale: "stale"
        case .request: "request"
        }
    }
}

extension PipelineError {
    /// The member `fwd-status`, if the origin answered at all (RFC 9211 §2.3).
    fileprivate var forwardedStatus: String { upstreamStatus.map { "; fwd-status=\($0)" } ?? "" }
}

extension HTTPBody {
    /// Creates the server's form of the pipeline's bytes.
    package init(_ body: StoredBody) {
        switch body {
        case .bytes(let bytes): self = .bytes(bytes)
        case .file(let file, let offset, let length):
            self = .file(descriptor: file.raw, offset: offset, length: length, owner: file)
        }
    }
}
