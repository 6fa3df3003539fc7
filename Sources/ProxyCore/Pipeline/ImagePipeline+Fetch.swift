// SPDX-License-Identifier: Apache-2.0

extension ImagePipeline {
    /// Asks the origin, once for everybody who needs this source: for a confirmation when `record` is given.
    ///
    /// A recently failed source is refused without asking. A 304 updates the record, and every result made from the
    /// same content stays good. A 404 or 410 deletes the copies. What may not be shared goes to those alone who were
    /// aboard when the origin said so.
    /// - Parameter arrival: told of the fetch, whose bytes may go out while they arrive.
    func fetch(
        _ request: ImageRequest, validating record: SourceRecord?, asking client: RequestDirectives = .none,
        telling arrival: Arrival? = nil
    ) async throws(PipelineError) -> Source {
        if !client.retryFailed, let failure = failures.failure(ofSourceOf: request, at: clock()) {
            FetchContext.current.forwarding?.note(.remembered)
            throw failure
        }
        let key = FetchKey(
            source: request.sourceKey, isConditional: record != nil, keeping: client.keeping)
        let seat = fetches.join(key, progress: newFetch(request, keeping: client.keeping)) {
            (fetch) async throws(PipelineError) in
            try await self.load(request, into: fetch, validating: record, asking: client)
        }
        // Made here: no task's context holds where the head arrives.
        let rendering = RenderingKey(request, asking: client)
        seat.progress.whenUnshareable { [fetches, renderings] in
            fetches.closeBoarding(key)
            renderings.closeBoarding(rendering)
        }
        arrival?.follow(seat.progress)
        if !seat.isLeader {
            metrics.coalescedRequests.increment(.fetch)
            seat.progress.urgency.join(FetchContext.current.client, to: request.delivery.priority ?? .normal)
        }
        do {
            let source = try await seat.output()
            noteForwarding(by: seat, validating: record)
            return source
        } catch {
            if error.wasForwarded { noteForwarding(by: seat, validating: record) }
            throw error
        }
    }

    /// Notes for the client's answer that the origin was asked.
    private func noteForwarding(
        by seat: FlightTable<FetchKey, OriginalFetch, Source>.Seat, validating record: SourceRecord?
    ) {
        let fetch = seat.progress
        FetchContext.current.forwarding?.note(
            .asked(
                record == nil ? .missing : .stale, status: fetch.head?.status ?? fetch.refusal?.status,
                isCollapsed: !seat.isLeader))
    }

    /// Has a fetch that others wait for already get its slot as soon as `request`, and its client, would.
    func hurry(_ request: ImageRequest, asking client: RequestDirectives) {
        for isConditional in [false, true] {
            let key = FetchKey(
                source: request.sourceKey, isConditional: isConditional, keeping: client.keeping)
            fetches.progress(of: key)?.urgency.join(
                FetchContext.current.client, to: request.delivery.priority ?? .normal)
        }
    }

    /// A fetch that has yet to begin.
    func newFetch(_ request: ImageRequest, keeping: Keeping) -> OriginalFetch {
        let (body, place) = tiers.newBody(keyText: request.sourceKeyText, keeping: keeping)
        let fetch = OriginalFetch(
            body: body, place: place, decodable: configuration.decodableFormats,
            maxBytes: configuration.maxSourceBytes,
            permit: tiers.ledger.permit(for: request.sourceKey), rules: configuration.origins,
            judge: { [freshness] in freshness.verdict(on: $0, after: $1) })
        fetch.urgency.raise(to: request.delivery.priority ?? .normal)
        return fetch
    }

    /// Runs at most once at a time for a source.
    private func load(
        _ request: ImageRequest, into fetch: OriginalFetch, validating record: SourceRecord?,
        asking client: RequestDirectives
    ) async throws(PipelineError) -> Source {
        var question = try originRequest(for: request, validating: record)
        let pass = try failures.hosts.admit(
            question.url.origin, for: FetchContext.current.client, at: clock())
        let start = ContinuousClock.now
        let received: Source?
        do throws(LoadError) {
            question.urgency = fetch.urgency
            let summary = try await loader.load(question, into: fetch)
            failures.hosts.report(pass, nil, lastHop: fetch.lastHop, at: clock())
            metrics.count(summary, isNotModified: fetch.head?.status == 304, took: start.microsecondsUntilNow)
            received = try await receivedSource(
                request, fetch, validating: record, isAuthorized: question.isAuthorized, asking: client,
                permit: fetch.permit)
        } catch {
            fetch.body.fail(error)
            let failure = PipelineError(error, at: fetch.hop(from: question.url, of: request.source))
            failures.hosts.report(pass, failure, lastHop: fetch.lastHop, at: clock())
            metrics.count(failedFetch: failure, took: start.microsecondsUntilNow)
            await remember(
                failure, of: request, atMost: fetch.refusal.flatMap(freshness.lifetime(ofRefusal:)),
                permit: fetch.permit)
            throw failure
        }
        failures.forget(source: request.sourceKey)
        guard var source = received else {
            return try await self.fetch(request, validating: nil, asking: client)
        }
        source.fetchTime = start.microsecondsUntilNow
        return source
    }

    /// What the origin is asked, and where that is.
    /// - Throws: `sourceForbidden` where the rule rewrites the URL to none.
    func originRequest(
        for request: ImageRequest, validating record: SourceRecord?
    ) throws(PipelineError) -> OriginRequest {
        let rule = request.rule
        guard let url = rule.map({ $0.target(of: request.source) }) ?? request.source else {
            throw .sourceForbidden
        }
        var question = OriginRequest(
            url: url, ifNoneMatch: record?.entityTag, ifModifiedSince: record?.lastModified,
            fields: FetchContext.current.fields, rule: rule)
        question.validatedURL = record?.finalURL
        question.rules = configuration.origins
        return question
    }

    /// Turns what arrived into a source: confirmed, or new; nil where a 304 leaves nothing that may be served.
    private func receivedSource(
        _ request: ImageRequest, _ fetch: OriginalFetch, validating stale: SourceRecord?, isAuthorized: Bool,
        asking client: RequestDirectives, permit: PurgeLedger.Permit
    ) async throws(LoadError) -> Source? {
        guard let head = fetch.head else { throw .incomplete("no head") }
        if head.status == 304 {
            guard let stale else { throw .incomplete("304 to a request without validators") }
            return await confirmedSource(
                stale, of: request, by: head, of: fetch, isAuthorized: isAuthorized, asking: client,
                permit: permit)
        }
        let format = try fetch.sniff()
        fetch.body.finish()
        guard let content = fetch.body.content else { throw .storage("the body can't be read back") }
        // Who may have the bytes before they are stored goes first: a pool of one thread would have them wait for the disk.
        if fetch.hasArrived() { await Task.yield() }
        let fetched = FetchedOriginal(content: content, place: fetch.place, format: format)
        let original = try await serialized(
            fetched, for: request, as: fetch.hops.storeAs, keeping: client.keeping)
        var record = freshness.record(
            key: request.sourceKey, keyText: request.sourceKeyText, contentHash: original.content.hash,
            byteCount: original.content.body.count, format: original.format, head: head,
            after: fetch.redirects, isAuthorized: isAuthorized, verdict: isAuthorized ? nil : fetch.verdict)
        if let finalURL = fetch.finalURL { record.finalURL = finalURL.digest }
        request.rule?.apply(to: &record)
        fetch.hops.apply(to: &record)
        var kept = Source.Kept.nowhere
        if record.directives.forbidStoring {
            await removeCopies(of: request, permit: permit)
        } else if client.noStore {
            record.directives.insert(.noStore)
        } else {
            kept = await tiers.store(
                original.content, at: original.place, as: record, replacing: stale, arrived: fetch.arrived,
                keeping: client.keeping, permit: permit, now: clock())
        }
        var source = Source(
            record: record, body: original.content.body,
            provenance: .fetched(stale == nil ? .missing : .stale))
        source.status = head.status
        source.kept = kept
        return source
    }

    /// A stored source as a 304 leaves it; nil where the 304 speaks of another one, or forbids to keep it.
    private func confirmedSource(
        _ stale: SourceRecord, of request: ImageRequest, by head: OriginHead, of fetch: OriginalFetch,
        isAuthorized: Bool, asking client: RequestDirectives, permit: PurgeLedger.Permit
    ) async -> Source? {
        // One that was stored before a redirect led to where another format is wanted is not good any more.
        guard FreshnessPolicy.confirms(head, stale),
            request.rule?.storeAs != nil || fetch.hops.storeAs ?? stale.format == stale.format
        else { return nil }
        var record = freshness.updating(stale, with: head, after: fetch.redirects, isAuthorized: isAuthorized)
        record.finalURL = fetch.finalURL?.digest
        request.rule?.apply(to: &record)
        fetch.hops.apply(to: &record)
        guard !record.directives.forbidStoring else {
            await removeCopies(of: request, permit: permit)
            return nil
        }
        await tiers.save(record, arrived: fetch.arrived, keeping: client.keeping, permit: permit)
        return Source(record: record, provenance: .revalidated(.stale))
    }

    /// Forgets what was kept before the origin forbade to keep it.
    private func removeCopies(of request: ImageRequest, permit: PurgeLedger.Permit) async {
        guard permit.isValid, await tiers.record(for: request) != nil else { return }
        await tiers.removeAll(ofSource: request.sourceKey)
    }

    /// Puts a failure on the blacklist if its row says so; a source that is gone takes its copies with it.
    ///
    /// What began before a purge answers who waits for it, and leaves nothing behind: it may be of what was purged.
    /// - Parameter seconds: for which the origin allows it to be remembered; nil where it does not say.
    func remember(
        _ failure: PipelineError, of request: ImageRequest, atMost seconds: Int64? = nil,
        permit: PurgeLedger.Permit
    ) async {
        guard permit.isValid else { return }
        failures.remember(failure, of: request, atMost: seconds, at: clock())
        // An origin may have said so because of the proxies that a client names; a refresh names none.
        guard failure.isNotFound, FetchContext.current.history == nil else { return }
        await tiers.removeAll(ofSource: request.sourceKey)
    }
}

extension OriginRequest {
    /// Whether it proves who asks, so that the answer is that one's alone unless the origin says otherwise.
    ///
    /// Credentials that the operator has configured for every fetch are the daemon's own, and no client's.
    fileprivate var isAuthorized: Bool { fields.contains { $0.name.lowercased() == "authorization" } }
}

extension ContinuousClock.Instant {
    /// Microseconds from this instant until now.
    var microsecondsUntilNow: Int { microseconds(until: .now) }

    /// Microseconds from this instant until a later one.
    func microseconds(until end: ContinuousClock.Instant) -> Int {
        let (seconds, attoseconds) = (end - self).components
        return Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
    }
}
