// SPDX-License-Identifier: Apache-2.0

import Cache
import Dialects
import Freshness
package import HTTPServer
import Imaging
package import Loading
package import Observability
import Origins
package import Pipeline
package import Primitives
package import Request
import URLs

/// Answers `/img`, or `/info`, in the first of four ways that suffices: from memory; from a file that the page cache holds,
/// both in the same turn of the loop; from the disk, which a task waits for; by the pipeline, in that task.
package final class ImageHandler: Sendable {
    package let route: Metric.Route
    /// Whose URLs these are; nil for ours.
    package let dialectRoute: DialectRoute?
    package let pipeline: ImagePipeline
    package let parser: ImageRequestParser
    private let failures: FailedURLs
    package let automatic: AutomaticFormats
    private let loopGuard: LoopGuard
    package let limit: ClientLimit
    let uploads: UploadBuffers
    package let cachesUploads: Bool
    private let aliases: AliasTable
    package let mapping: ResponseMapping
    package let hints: ClientHints
    private let placeholders: [String: Placeholder]
    package let clock: @Sendable () -> WallTime
    package let tracing: RequestTracing
    private let reportError: @Sendable (String) -> Void

    /// The minimum interval, in seconds, at which a hit in memory is reported to the disk tier.
    private static let accessInterval: Int64 = 60
    /// The HTTP/1.0 form of `no-cache`.
    private static let pragma = FieldName("Pragma")

    /// - Parameters:
    ///   - route: `img` for pictures, `info` for facts about them.
    ///   - dialectRoute: whose URLs are answered; nil for ours.
    ///   - aliases: the targets stored with their answers' heads.
    ///   - uploads: those of all handlers, also of earlier settings.
    ///   - reportError: receives internal failures, for the log; clients get no details.
    package init(
        route: Metric.Route, dialectRoute: DialectRoute? = nil, pipeline: ImagePipeline,
        parser: ImageRequestParser, failures: FailedURLs,
        automatic: AutomaticFormats, crossOrigin: CrossOriginPolicy, hints: ClientHints,
        placeholders: [String: Placeholder], loopGuard: LoopGuard, limit: ClientLimit,
        aliases: AliasTable, uploads: UploadBuffers, cachesUploads: Bool, tracing: RequestTracing,
        clock: @escaping @Sendable () -> WallTime,
        reportError: @escaping @Sendable (String) -> Void
    ) {
        self.route = route
        self.dialectRoute = dialectRoute
        self.pipeline = pipeline
        self.parser = parser
        self.failures = failures
        self.automatic = automatic
        self.loopGuard = loopGuard
        self.limit = limit
        self.aliases = aliases
        self.uploads = uploads
        self.cachesUploads = cachesUploads
        mapping = ResponseMapping(crossOrigin: crossOrigin, route: route)
        self.placeholders = placeholders
        self.hints = hints
        self.tracing = tracing
        self.clock = clock
        self.reportError = reportError
    }

    /// Hot path: answers from memory, or refuses a client beyond its rate; two locks, no task, no allocation
    /// on a hit.
    package func answersAtOnce(_ request: HTTPRequest, with response: inout HTTPResponse) -> Bool {
        do throws(PipelineError) {
            try limit.check(request)
        } catch {
            response = mapping.failure(
                error, to: request, compatible: compatible(error), isNegotiated: false, remembered: nil)
            return true
        }
        return answersFromMemory(request, with: &response)
    }

    /// Answers requests that `answersAtOnce` has not: at once where they are refused or a file in the page cache suffices, else
    /// from a task.
    package func answer(_ request: HTTPRequest) -> HTTPAnswer {
        let imageRequest: ImageRequest
        do throws(PipelineError) {
            imageRequest = try check(request)
        } catch {
            return .now(problem(error, nil, for: request, .none))
        }
        let wouldBlock: Bool
        switch storedAnswer(to: request, imageRequest) {
        case .hit(let image): return .now(response(image, imageRequest, for: request, .none))
        case .wouldBlock: wouldBlock = true
        case .unknown: wouldBlock = false
        }
        return .later(context: ExchangeContext(route).packed, note: ExchangeNote(awaiting: imageRequest)) {
            await self.tracing.run(request, at: self.route) { context in
                await self.answerLater(request, imageRequest, wouldBlock: wouldBlock, context)
            }
        }
    }

    /// Hot path: answers with a fresh picture on disk, if no other check is needed.
    private func storedAnswer(to request: HTTPRequest, _ imageRequest: ImageRequest) -> StoredAnswer {
        guard route == .img, !imageRequest.isInformation, !imageRequest.delivery.isDataURL,
            !carriesDirectives(request)
        else { return .unknown }
        return pipeline.lookUpInPageCache(imageRequest)
    }

    private func response(
        _ image: ImageResponse, _ imageRequest: ImageRequest, for request: HTTPRequest,
        _ context: FetchContext
    ) -> HTTPResponse {
        let heads = ImageHeads(
            image, request: imageRequest, crossOrigin: mapping.crossOrigin,
            shortLifetime: pipeline.shortLifetime(of: image.description))
        pipeline.improve(image, as: imageRequest, for: ClientID(request.client))
        remember(image, heads, imageRequest, for: request)
        var response = mapping.response(image, heads, request: request, at: clock())
        response.note = ExchangeNote(
            image, for: imageRequest, context, sent: response.note as? ExchangeNote)
        return response
    }

    /// What is checked before the disk is looked at; the rate is checked in `answersAtOnce`.
    private func check(_ request: HTTPRequest) throws(PipelineError) -> ImageRequest {
        try loopGuard.check(request)
        var imageRequest = try parse(request)
        if imageRequest.delivery.priority == nil, request.has(.priority) {
            let value = request.values(of: .priority).joined(separator: ",")
            let wanted = FetchPriority(field: value)
            // Browsers raise the priority of what is in view, each for itself: among unsigned clients that
            // gives no precedence.
            imageRequest.delivery.priority = imageRequest.mayGoFirst ? wanted : min(wanted, .normal)
        }
        return imageRequest
    }

    private func answersFromMemory(_ request: HTTPRequest, with response: inout HTTPResponse) -> Bool {
        // A stored picture ends a loop, but a loop through this daemon would revalidate its own stale
        // pictures.
        guard !carriesDirectives(request), loopGuard.isClear(request) else { return false }
        let now = clock()
        let seconds = now.seconds
        let finding = unsafe request.withTarget { unsafe aliases.aliases(of: $0) }
        guard let alias = choice(of: finding, for: request),
            let cached = pipeline.cachedEntry(for: alias.key, at: now),
            cached.entry.id == alias.entry, seconds < alias.expires
        else { return false }
        let entry = cached.entry
        if cached.isStale {
            pipeline.refresh(entry, for: ClientID(request.client)) { [self] in parsedAgain(request) }
        }
        if pipeline.shouldImprove(entry, at: seconds) {
            pipeline.improve(entry, for: ClientID(request.client)) { [self] in parsedAgain(request) }
        }
        if entry.shouldRecordAccess(at: seconds, every: Self.accessInterval) { pipeline.recordUse(entry) }
        mapping.answerHit(alias, cached, to: request, at: now, with: &response)
        return true
    }

    /// Hot path: the alias whose fields are the request's; they are read only if they count.
    private func choice(of finding: AliasTable.Finding, for request: HTTPRequest) -> Alias? {
        switch finding {
        case .nothing: return nil
        case .alone(let alias): return alias
        case .variants(let variants):
            let accept = acceptClass(of: request)
            return variants.first { alias in
                alias.variant.fits(accept: accept)
                    && (!alias.variant.isHinted || alias.variant.dpr == hints.dpr(of: request))
            }
        }
    }

    /// Hot path: whether the client sends cache directives, and is trusted with them.
    private func carriesDirectives(_ request: HTTPRequest) -> Bool {
        guard pipeline.honoursClients else { return false }
        return unsafe request.withFirstValue(of: .cacheControl, { _ in true }) ?? false
            || Self.pragma.flatMap { unsafe request.withFirstValue(of: $0) { _ in true } } ?? false
    }

    private func directives(of request: HTTPRequest) -> RequestDirectives {
        guard carriesDirectives(request) else { return .none }
        return RequestDirectives(
            cacheControl: request.values(of: .cacheControl),
            pragma: Self.pragma.map { request.values(of: $0) } ?? [])
    }

    /// The request of a hit by an alias, which is not parsed to answer it.
    private func parsedAgain(_ request: HTTPRequest) -> ImageRequest? {
        // Ignored: why it can't be parsed; an alias is inserted only for a request that could be.
        try? parse(request)
    }

    /// The cold path: runs the pipeline.
    /// - Parameter wouldBlock: whether the page cache lacks a picture that the disk may have, so that waiting for that alone may be enough.
    private func answerLater(
        _ request: HTTPRequest, _ imageRequest: ImageRequest, wouldBlock: Bool, _ context: FetchContext
    ) async -> HTTPResponse {
        if wouldBlock, let image = await pipeline.lookUpOnDisk(imageRequest, for: context.client) {
            return response(image, imageRequest, for: request, context)
        }
        do throws(PipelineError) {
            let image = try await image(imageRequest, for: request, context)
            return try await response(image, imageRequest, for: request, context)
        } catch {
            return problem(error, imageRequest, for: request, context)
        }
    }

    /// - Parameter context: says whether a request was sent to the origin; `none` for a refusal before that.
    package func problem(
        _ error: PipelineError, _ parsed: ImageRequest?, for request: HTTPRequest,
        _ context: FetchContext
    ) -> HTTPResponse {
        if let fault = error.fault { reportError(fault) }
        // Not for what says nothing of the source: too much to do, a client's rate.
        // Nor to a source that was refused for its address.
        if let url = parsed?.delivery.redirect, ![429, 503].contains(error.row.status),
            error.row.status != 403 || url.normalized != parsed?.source.normalized
        {
            var response = mapping.redirect(to: url.normalized, for: request)
            response.note = ExchangeNote(
                error, source: parsed?.source, preset: parsed?.delivery.preset, context)
            return response
        }
        let placeholder = parsed?.delivery.placeholder.flatMap { placeholders[$0] }
        var response = mapping.failure(
            error, to: request, compatible: compatible(error),
            isNegotiated: parsed?.isNegotiated ?? false, isHinted: parsed?.isHinted ?? false,
            remembered: remaining(parsed, error, context.history),
            placeholder: placeholder, forwarding: context.forwarding?.outcome)
        let source =
            parsed?.source
            ?? (dialectRoute == nil
                ? parser.source(ofRefused: unsafe request.withTarget { unsafe Array($0) }) : nil)
        response.note = ExchangeNote(error, source: source, preset: parsed?.delivery.preset, context)
        return response
    }

    private func image(
        _ imageRequest: ImageRequest, for request: HTTPRequest, _ context: FetchContext
    ) async throws(PipelineError) -> ImageAnswer {
        let cookies =
            imageRequest.delivery.options.contains(.handleCookies) ? request.values(of: Self.cookie) : nil
        var directives = RequestDirectives.none
        if cookies == nil {
            directives = self.directives(of: request)
            directives.apply(imageRequest.delivery.options)
        }
        return try await pipeline.answer(
            for: imageRequest, directives: directives, cookies: cookies, context: context,
            streaming: Self.streamingSupport(of: request, isText: imageRequest.delivery.isDataURL))
    }

    /// Which images may be streamed to a client while they are received: not for a conditional or a range
    /// request.
    ///
    /// - Parameter isText: whether the whole image is needed to answer.
    private static func streamingSupport(
        of request: HTTPRequest, isText: Bool
    ) -> StreamingImage.Support {
        let aboutTheWhole: [FieldName] = [
            .range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince,
        ]
        guard request.method == .get, !isText, !aboutTheWhole.contains(where: request.has) else {
            return .none
        }
        // Without a length, a client of HTTP/1.0 can't distinguish a body that breaks off from a complete
        // one.
        return request.isHTTP10 ? .knownLength : .anyLength
    }

    package func response(
        _ answer: ImageAnswer, _ imageRequest: ImageRequest, for request: HTTPRequest, _ context: FetchContext
    ) async throws(PipelineError) -> HTTPResponse {
        switch answer {
        case .whole(let image):
            if let dialectRoute, imageRequest.isInformation || imageRequest.delivery.isDataURL {
                return try await text(image, by: dialectRoute, imageRequest, for: request, context)
            }
            return response(image, imageRequest, for: request, context)
        case .streaming(let image):
            let heads = ImageHeads(image, request: imageRequest, crossOrigin: mapping.crossOrigin)
            var response = mapping.response(image, heads, request: request, at: clock()) { [self] error in
                problem(error, imageRequest, for: request, context)
            }
            response.note = ExchangeNote(image, for: imageRequest)
            return response
        }
    }

    private static let cookie = FieldName(literal: "Cookie")

    private func parse(_ request: HTTPRequest) throws(PipelineError) -> ImageRequest {
        try parse(request, by: parser, hasBody: false)
    }

    package func parse(
        _ request: HTTPRequest, by parser: ImageRequestParser, hasBody: Bool
    ) throws(PipelineError) -> ImageRequest {
        let target = unsafe request.withTarget { unsafe Array($0) }
        return try parse(
            target, hasBody: hasBody, key: key(of: request), by: parser, ratio: hints.dpr(of: request)
        ) { acceptClass(of: request) }
    }

    /// Reads a target as one of ours, or of the dialect.
    ///
    /// - Parameters:
    ///   - key: what the request has in the dialect's field for keys.
    ///   - ratio: of the client's screen; counts where the settings say so.
    func parse(
        _ target: [UInt8], hasBody: Bool = false, key: String? = nil, by parser: ImageRequestParser,
        ratio: @autoclosure () -> Double?, accept: () -> AcceptClass
    ) throws(PipelineError) -> ImageRequest {
        let now = clock().seconds
        do throws(ImageRequestError) {
            if route == .info { return try parser.parseInformation(target: target, at: now) }
            let hint = hints.areOn ? ImageRequestParser.ScreenHint(ratio: ratio()) : nil
            guard let dialectRoute else {
                return try parser.parse(target: target, at: now, dpr: hint, accept: accept)
            }
            return try dialectRoute.read(
                target, hasBody: hasBody, key: key, by: parser, at: now, dpr: hint, accept: accept)
        } catch {
            throw PipelineError(error)
        }
    }

    private func acceptClass(of request: HTTPRequest) -> AcceptClass {
        unsafe request.withCombinedValue(of: .accept) { value in
            unsafe AcceptClass(accept: value, candidates: automatic)
        } ?? AcceptClass()
    }

    /// Makes the next request for the same target a hit, if the bytes are in memory.
    private func remember(
        _ image: ImageResponse, _ heads: ImageHeads, _ imageRequest: ImageRequest, for request: HTTPRequest
    ) {
        guard let entry = image.entry, request.method != .post, !imageRequest.delivery.isPermittedByField,
            unsafe request.withTarget({ $0.count }) <= AliasTable.maxTargetBytes,
            imageRequest.delivery.options.isDisjoint(with: .bypassing)
        else { return }
        var variant = AliasVariant()
        if imageRequest.isNegotiated { variant.acceptClass = acceptClass(of: request) }
        if imageRequest.isHinted { (variant.isHinted, variant.dpr) = (true, hints.dpr(of: request)) }
        let target = unsafe request.withTarget { unsafe Array($0) }
        aliases.insert(
            Alias(
                target: target, variant: variant,
                key: entry.description.key,
                entry: entry.id, head: heads.full, notModifiedHead: heads.notModified,
                validators: heads.validators, lifetimes: heads.lifetimes,
                expires: imageRequest.delivery.expires))
    }

    /// How long the failure is remembered, for `max-age`; nil where others may not be refused by it.
    private func remaining(
        _ request: ImageRequest?, _ error: PipelineError, _ history: FetchContext.History?
    ) -> Int64? {
        guard let request, let memory = error.row.memory else { return nil }
        // The failure of a result may have been recorded for its source.
        let source = failures.remaining(ofSource: request.fullKey, history, at: clock().seconds)
        // The origin may have sent other bytes because of the client's proxies.
        return history != nil || memory.scope == .source && !request.shrinksLarge
            ? source : failures.remaining(of: request.resultKey, at: clock().seconds) ?? source
    }
}
