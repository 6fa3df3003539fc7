// SPDX-License-Identifier: Apache-2.0

extension ImagePipeline {
    /// What is known of the source now: as it is stored, confirmed by the origin, or fetched.
    ///
    /// Stored knowledge is used when it is fresh, or stale and permitted; in place of an error where that is permitted.
    func usableSource(
        for request: ImageRequest, asking client: RequestDirectives, telling arrival: Arrival?
    ) async throws(PipelineError) -> Source {
        guard let record = await tiers.usableRecord(for: request), request.accepts(record) else {
            guard !client.onlyIfCached else { throw .notCached }
            return try await fetch(request, validating: nil, asking: client, telling: arrival)
        }
        switch freshness.reuse(of: record, at: clock(), for: client) {
        case .fresh: return Source(record: record, provenance: .storedOriginal)
        case .whileRevalidating: return Source(record: record, provenance: .stale(.whileRevalidating))
        case .asClientAllows: return Source(record: record, provenance: .stale(.asClientAllows))
        case .forbidden:
            guard !client.onlyIfCached else { throw .notCached }
            return try await askedSource(for: request, knowing: record, asking: client, telling: arrival)
        }
    }

    /// Asks the origin about a source that is on record; when that fails, falls back on the record where it may.
    ///
    /// Where there is such a record nothing goes out while it arrives: a fetch that breaks off could not be replaced.
    private func askedSource(
        for request: ImageRequest, knowing record: SourceRecord, asking client: RequestDirectives,
        telling arrival: Arrival?
    ) async throws(PipelineError) -> Source {
        // Validators are worth sending only when a 304 would leave us something to serve.
        guard tiers.mayHold(request) else {
            return try await fetch(request, validating: nil, asking: client, telling: arrival)
        }
        let isRemembered = !client.retryFailed && failures.failure(ofSourceOf: request, at: clock()) != nil
        do throws(PipelineError) {
            var source = try await fetch(request, validating: client.noCache ? nil : record, asking: client)
            source.provenance.wentForward(because: record.isFresh(at: clock()) ? .request : .stale)
            return source
        } catch {
            FetchContext.current.forwarding?.wentForward(
                because: record.isFresh(at: clock()) ? .request : .stale)
            guard error.allowsStale, freshness.mayServeOnError(record, at: clock(), for: client) else {
                throw error
            }
            let wasAsked = !isRemembered && error.wasForwarded
            return Source(record: record, provenance: .stale(.onError(error, wasAsked: wasAsked)))
        }
    }

    /// The original's bytes: just fetched, or stored and still those of the record; else fetched now.
    func original(
        for request: ImageRequest, of source: Source, asking client: RequestDirectives,
        telling arrival: Arrival?
    ) async throws(PipelineError) -> Source {
        if source.body != nil { return source }
        if let found = try await tiers.original(for: request, hash: source.record.contentHash) {
            return source.with(found)
        }
        // The origin has just said no; there was no copy after all.
        if case .stale(.onError(let error, _)) = source.provenance { throw error }
        guard !client.onlyIfCached else { throw .notCached }
        return try await fetch(request, validating: nil, asking: client, telling: arrival)
    }
}
