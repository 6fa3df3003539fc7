// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension ImagePipeline {
    /// An image as one client alone may see it: asked for with its cookies, shared with nobody and kept nowhere.
    ///
    /// A flight that nobody can join, no tier, no entry of the blacklist (SDWebImage: handleCookies); only the breakers
    /// hear of it.
    /// - Parameter streaming: what the client can follow.
    public func unsharedAnswer(
        for request: ImageRequest, cookies: [String], streaming: ArrivingImage.Following
    ) async throws(PipelineError) -> ImageAnswer {
        var key = RenderingKey(request, asking: .none)
        key.loner = loners.wrappingAdd(1, ordering: .relaxed).newValue
        let interest = RenderInterest(request.delivery.priority)
        let seat = renderings.join(key, progress: Arrival(interest: interest)) {
            (arrival) async throws(PipelineError) in
            try await arrival.interest.carried { () async throws(PipelineError) in
                try await self.unsharedResponse(
                    for: request, cookies: cookies, telling: request.isUntouched ? arrival : nil)
            }
        }
        seat.whenLanded { [arrival = seat.progress] in arrival.end() }
        return try await answer(for: request, aboard: seat, asking: .none, streaming: streaming)
    }

    private func unsharedResponse(
        for request: ImageRequest, cookies: [String], telling arrival: Arrival?
    ) async throws(PipelineError) -> ImageResponse {
        let permit = tiers.ledger.permit(for: request.resultKey)
        let source = try await unsharedSource(for: request, cookies: cookies, telling: arrival)
        let mayPassThrough = mayPass(source.record) && request.mayPassThrough
        let plan = request.plan ?? (mayPassThrough ? nil : configuration.rasterPlan)
        guard let plan else { return await passThrough(source, for: request, permit: permit) }
        return try await make(source, by: plan, for: request, keeping: .nothing, permit: permit)
    }

    private func unsharedSource(
        for request: ImageRequest, cookies: [String], telling arrival: Arrival?
    ) async throws(PipelineError) -> Source {
        // Nothing of it is ever stored.
        guard !request.delivery.options.contains(.fromCacheOnly) else { throw .notCached }
        var question = try originRequest(for: request, validating: nil)
        let client = FetchContext.current.client
        let pass = try failures.hosts.admit(question.url.origin, for: client, at: clock())
        let start = ContinuousClock.now
        let fetch = newFetch(request, keeping: .nothing)
        // Several lines of `Cookie` are one list, joined by semicolons (RFC 9113 §8.2.3, RFC 6265 §4.2).
        if !cookies.isEmpty {
            question.fields.append(
                HeaderField(name: "Cookie", value: cookies.joined(separator: "; ")))
        }
        question.urgency = FetchUrgency(request.delivery.priority ?? .normal, client: client)
        arrival?.follow(fetch)
        do throws(LoadError) {
            let summary = try await loader.load(question, into: fetch)
            failures.hosts.report(pass, nil, lastHop: fetch.lastHop, at: clock())
            metrics.count(summary, isNotModified: false, took: start.microsecondsUntilNow)
            return try await unsharedSource(request, from: fetch, fetchTime: start.microsecondsUntilNow)
        } catch {
            fetch.body.fail(error)
            let failure = PipelineError(error, at: fetch.hop(from: question.url, of: request.source))
            failures.hosts.report(pass, failure, lastHop: fetch.lastHop, at: clock())
            metrics.count(failedFetch: failure, took: start.microsecondsUntilNow)
            if failure.wasForwarded {
                FetchContext.current.forwarding?.note(
                    .asked(.request, status: fetch.refusal?.status, isCollapsed: false))
            }
            throw failure
        }
    }

    private func unsharedSource(
        _ request: ImageRequest, from fetch: OriginalFetch, fetchTime: Int
    ) async throws(LoadError) -> Source {
        guard let head = fetch.head, head.status != 304 else { throw .incomplete("no body") }
        let format = try fetch.sniff()
        fetch.body.finish()
        guard let content = fetch.body.content else { throw .storage("the body can't be read back") }
        let fetched = FetchedOriginal(content: content, place: fetch.place, format: format)
        let original = try await serialized(
            fetched, for: request, as: fetch.hops.storeAs, keeping: .nothing)
        var record = freshness.record(
            key: request.sourceKey, keyText: request.sourceKeyText, contentHash: original.content.hash,
            byteCount: original.content.body.count, format: original.format, head: head,
            after: fetch.redirects, isAuthorized: false)
        request.rule?.apply(to: &record)
        fetch.hops.apply(to: &record)
        record.directives.insert(.isPrivate)
        var source = Source(record: record, body: original.content.body, provenance: .fetched(.request))
        source.fetchTime = fetchTime
        source.status = head.status
        source.kept = .nowhere
        return source
    }
}
