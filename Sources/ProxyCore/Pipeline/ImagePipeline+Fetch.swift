// SPDX-License-Identifier: Apache-2.0

extension ImagePipeline {
    /// Asks the origin, once for everybody who needs this source: for a confirmation when `record` is given.
    ///
    /// A recently failed source is refused without asking. A 304 updates the record, and every result made from the
    /// same content stays good. A 404 or 410 deletes the copies.
    func fetch(
        _ request: ImageRequest, validating record: SourceRecord?
    ) async throws(PipelineError) -> Source {
        try refuseIfRecentlyFailed(request.sourceKey)
        let key = FetchKey(source: request.sourceKey, isConditional: record != nil)
        let seat = fetches.join(key, progress: newFetch(request)) { (fetch) async throws(PipelineError) in
            try await self.load(request, into: fetch, validating: record)
        }
        if !seat.isLeader { metrics.coalescedRequests.increment(.fetch) }
        return try await seat.output()
    }

    private func newFetch(_ request: ImageRequest) -> OriginalFetch {
        let (body, place) = tiers.newBody(keyText: request.sourceKeyText)
        return OriginalFetch(
            body: body, place: place, decodable: configuration.decodableFormats,
            maxBytes: configuration.maxSourceBytes)
    }

    /// Runs at most once at a time for a source.
    private func load(
        _ request: ImageRequest, into fetch: OriginalFetch, validating record: SourceRecord?
    ) async throws(PipelineError) -> Source {
        let start = ContinuousClock.now
        var source: Source
        do throws(LoadError) {
            let summary = try await loader.load(originRequest(for: request, validating: record), into: fetch)
            metrics.count(summary, isNotModified: fetch.head?.status == 304)
            source = try await receivedSource(request, fetch, validating: record)
        } catch {
            let failure = PipelineError(error)
            metrics.count(error)
            await remember(failure, of: request)
            throw failure
        }
        source.fetchTime = start.microsecondsUntilNow
        failures.forget(request.sourceKey)
        return source
    }

    private func originRequest(for request: ImageRequest, validating record: SourceRecord?) -> OriginRequest {
        OriginRequest(
            url: request.source, ifNoneMatch: record?.entityTag, ifModifiedSince: record?.lastModified)
    }

    /// Turns what arrived into a source: confirmed, or new.
    private func receivedSource(
        _ request: ImageRequest, _ fetch: OriginalFetch, validating stale: SourceRecord?
    ) async throws(LoadError) -> Source {
        guard let head = fetch.head else { throw .incomplete("no head") }
        if head.status == 304 {
            guard let stale else { throw .incomplete("304 to a request without validators") }
            let record = freshness.updating(stale, with: head)
            await tiers.save(record)
            return Source(record: record, provenance: .revalidated)
        }
        let format = try fetch.sniff()
        fetch.body.finish()
        guard let content = fetch.body.content else { throw .storage("the body can't be read back") }
        let record = freshness.record(
            key: request.sourceKey, keyText: request.sourceKeyText, contentHash: content.hash,
            byteCount: content.body.count, format: format, head: head)
        await tiers.store(content, at: fetch.place, as: record, now: clock())
        return Source(record: record, body: content.body, provenance: .fetched(wasStale: stale != nil))
    }

    /// Throws what is remembered of `key`, a source's or a result's.
    func refuseIfRecentlyFailed(_ key: CacheKey) throws(PipelineError) {
        guard let failure = failures.failure(of: key, at: clock()) else { return }
        throw failure
    }

    /// Puts a failure on the blacklist if its row says so; a source that is gone takes its copies with it.
    func remember(_ failure: PipelineError, of request: ImageRequest) async {
        failures.remember(failure, source: request.sourceKey, result: request.resultKey, at: clock())
        if case .upstreamNotFound = failure { await tiers.removeAll(ofSource: request.sourceKey) }
    }
}

extension ContinuousClock.Instant {
    /// Microseconds from this instant until now.
    var microsecondsUntilNow: Int {
        let (seconds, attoseconds) = (ContinuousClock.now - self).components
        return Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
    }
}
