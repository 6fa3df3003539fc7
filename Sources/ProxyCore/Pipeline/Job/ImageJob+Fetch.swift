// SPDX-License-Identifier: Apache-2.0

import Bodies
import Cache
import Freshness
import Imaging
import Loading
import Observability
import Origins
import Primitives
import Request
import Tracing
import URLs

/// What happens between a question to the origin and a source that can be used, in this order.
extension ImageJob {
    /// Sends the origin one request for all jobs that need this source; a conditional one when `record` is given.
    ///
    /// A recently failed source is refused without asking. A 304 updates the record, and every result made from the same
    /// content stays valid. A 404 or 410 deletes the copies, unless the client may have caused it. Once the head forbids sharing, later requests start their own
    /// fetch; those that have joined share it.
    ///
    /// - Parameters:
    ///   - record: what a 304 would confirm; nil for an unconditional request.
    ///   - isRepeated: whether a joined fetch was refused because of the client that began it.
    func fetch(
        validating record: SourceRecord? = nil, isRepeated: Bool = false
    ) async throws(PipelineError) -> Source {
        // What a client has sent can't be fetched again.
        guard !request.source.isUpload || context.upload != nil else { throw .notCached }
        if !isPrivate, !directives.retryFailed,
            let failure = failures.failure(
                ofSourceOf: request, context.history, record?.contentHash, at: now.seconds)
        {
            context.forwarding?.note(.remembered)
            throw failure
        }
        let fetchKey = fetchKey(isConditional: record?.hasValidators ?? false)
        let subscription = pipeline.fetches.join(fetchKey, progress: newFetch()) {
            (fetch, _) async throws(PipelineError) in try await self.load(into: fetch, validating: record)
        }
        let fetch = subscription.progress
        fetch.unshareable.whenSet { [weak subscription, detachTask] in
            subscription?.detach()
            detachTask?()
        }
        streamProgress?.follow(fetch)
        if !subscription.isLeader {
            metrics.coalescedRequests.increment(.fetch)
            fetch.waiters.join(context.client, priority)
        }
        // Those that joined this job before there was a fetch; later ones join the fetch themselves.
        if let waiters { fetch.waiters.join(waiters) }
        do {
            let source = try await subscription.output()
            noteForwarding(of: subscription, validating: record)
            return source
        } catch {
            if error.wasForwarded { noteForwarding(of: subscription, validating: record) }
            // Another client's fetch was refused because of that client.
            guard !subscription.isLeader, error.isClientPaused, !isRepeated else { throw error }
            return try await self.fetch(validating: record, isRepeated: true)
        }
    }

    /// Notes that the origin was asked, and what it answered.
    private func noteForwarding(of subscription: Fetches.Subscription, validating record: SourceRecord?) {
        guard let forwarding = context.forwarding else { return }
        let received = subscription.progress.received
        if subscription.isLeader {
            forwarding.note(
                ForwardingRecord.Way(redirects: received.redirects.count, families: received.families))
        }
        let reason: ImageResponse.Forwarding = isPrivate ? .request : record == nil ? .missing : .stale
        forwarding.note(
            .asked(
                reason, status: received.head?.status ?? received.refusal?.status,
                isCollapsed: !subscription.isLeader))
    }

    /// A fetch that has yet to begin.
    private func newFetch() -> OriginalFetch {
        let upload = request.source.isUpload ? context.upload : nil
        let (body, place) =
            upload.map { ($0.body, SpillTarget()) }
            ?? tiers.newBody(keyText: request.sourceKeyText, scope: scope)
        let configuration = pipeline.configuration
        return OriginalFetch(
            body: body, place: place, decodable: configuration.rasterPlan.decodableFormats,
            maxBytes: configuration.maxSourceBytes, token: tiers.purgeLog.token(for: request.sourceKey),
            rules: configuration.origins, waiters: Waiters(context.client, priority),
            decideReuse: { [freshness] in freshness.verdict(on: $0, after: $1) })
    }

    /// Asks the origin, stores what it sends, and reports to breaker, metrics and trace: the work of a task in `fetches`.
    private func load(
        into fetch: OriginalFetch, validating record: SourceRecord?
    ) async throws(PipelineError) -> Source {
        let part = context.trace?.begin("fetch", .client)
        let (originRequest, admission) = try admittedRequest(for: fetch, validating: record, part)
        let start = ContinuousClock.now
        func elapsed() -> Int { (ContinuousClock.now - start).inMicroseconds }
        let received: Source?
        var (summary, took) = (LoadSummary(), 0)
        do throws(LoadError) {
            if request.source.isUpload {
                try fetch.receive(head: Upload.head(at: now, isKept: !isPrivate))
            } else {
                summary = try await pipeline.loader.load(originRequest, into: fetch)
            }
            took = elapsed()
            received = try await receivedSource(fetch, validating: record)
        } catch {
            fetch.fail(error)
            let failure = PipelineError(
                error, at: fetch.hop(from: originRequest.url, of: request.source, after: error))
            failures.hosts.report(admission, failure, lastHop: fetch.received.lastHop, at: now.seconds)
            metrics.count(failedFetch: failure, took: elapsed())
            part?.end(summary, status: failure.upstreamStatus, of: originRequest.url, failure)
            remember(
                failure, atMost: fetch.received.refusal.flatMap(freshness.lifetime(ofRefusal:)),
                under: fetch.token)
            if failure.isNotFound { await removeGoneCopies(under: fetch.token) }
            throw failure
        }
        failures.hosts.report(admission, nil, lastHop: fetch.received.lastHop, at: now.seconds)
        metrics.count(summary, isNotModified: fetch.received.head?.status == 304, took: took)
        part?.end(summary, status: fetch.received.head?.status, of: originRequest.url)
        if !isPrivate { failures.forget(source: request.fullKey, context.history, at: now.seconds) }
        // The 304 left nothing that may be served: an unconditional fetch of its own, which other requests join.
        guard var source = received else { return try await self.fetch() }
        source.fetchTime = took
        offer(fetched: source)
        return source
    }

    /// What the origin is asked, if it may be asked now.
    private func admittedRequest(
        for fetch: OriginalFetch, validating record: SourceRecord?, _ part: Trace.Part?
    ) throws(PipelineError) -> (OriginRequest, HostBreakers.Admission) {
        do throws(PipelineError) {
            let originRequest = try self.originRequest(for: fetch, validating: record, part)
            let admission = try failures.hosts.admit(
                originRequest.url.origin, for: context.client, at: now.seconds)
            return (originRequest, admission)
        } catch {
            part?.end(error)
            throw error
        }
    }

    /// What the origin is asked, and where that is.
    /// - Throws: `sourceForbidden` where the rule rewrites the URL to none.
    private func originRequest(
        for fetch: OriginalFetch, validating record: SourceRecord?, _ part: Trace.Part?
    ) throws(PipelineError) -> OriginRequest {
        let rule = request.rule
        guard let url = rule.map({ $0.target(of: request.source) }) ?? request.source else {
            throw .sourceForbidden.explained("the rewrite of its origin rule makes no valid URL of it")
        }
        var originRequest = OriginRequest(
            url: url, ifNoneMatch: record?.reuse.entityTag, ifModifiedSince: record?.reuse.lastModified,
            fields: context.fields(part), rule: rule)
        // Several lines of `Cookie` are one list, joined by semicolons (RFC 9113 §8.2.3, RFC 6265 §4.2).
        if !cookies.isEmpty {
            originRequest.fields.append(HeaderField(name: "Cookie", value: cookies.joined(separator: "; ")))
        }
        originRequest.validatedURL = record?.finalURL
        originRequest.rules = pipeline.configuration.origins
        originRequest.waiters = fetch.waiters
        return originRequest
    }

    /// Turns what was received into a source: confirmed, or new; nil where a 304 leaves nothing that may be served.
    private func receivedSource(
        _ fetch: OriginalFetch, validating stale: SourceRecord?
    ) async throws(LoadError) -> Source? {
        guard let head = fetch.received.head else { throw .incomplete("no head") }
        if head.status == 304 {
            guard let stale else { throw .incomplete("304 to a request without validators") }
            return await confirmedSource(stale, by: head, of: fetch)
        }
        let format = try fetch.sniff()
        fetch.body.finish()
        guard let content = fetch.body.content else { throw .storage("the body can't be read back") }
        // Clients that may have the bytes before they are stored go first: a pool of one thread would have them wait for the disk.
        if fetch.didReceiveAll() { await Task.yield() }
        let original = try await serialized(
            ReceivedOriginal(content: content, place: fetch.place, format: format),
            as: request.rule?.storeAs ?? fetch.received.hops.storeAs)
        var record = newRecord(
            of: fetch, head, contentHash: original.content.hash, byteCount: original.content.body.count,
            format: original.format)
        let stored = await storeOriginal(original, as: &record, of: fetch, replacing: stale)
        var source = Source(
            record: record, body: original.content.body,
            provenance: .fetched(isPrivate ? .request : stale == nil ? .missing : .stale))
        source.status = head.status
        source.stored = stored
        return source
    }

    /// What is to be recorded of a source that was fetched anew.
    func newRecord(
        of fetch: OriginalFetch, _ head: OriginHead, contentHash: ContentHash, byteCount: Int,
        format: ImageFormat
    ) -> SourceRecord {
        var record = freshness.record(
            key: request.sourceKey, keyText: request.sourceKeyText, contentHash: contentHash,
            byteCount: byteCount, format: format, head: head, after: fetch.received.redirects,
            verdict: fetch.received.verdict)
        apply(fetch, to: &record)
        if isPrivate { record.reuse.directives.insert(.isPrivate) }
        return record
    }

    /// What origin rules and redirects make of a record.
    private func apply(_ fetch: OriginalFetch, to record: inout SourceRecord) {
        record.finalURL = fetch.received.finalURL?.digest
        request.rule?.apply(to: &record)
        fetch.received.hops.apply(to: &record)
    }

    /// Stores an original as far as its origin and the client allow it; where they don't, no copy of before stays either.
    private func storeOriginal(
        _ original: ReceivedOriginal, as record: inout SourceRecord, of fetch: OriginalFetch,
        replacing stale: SourceRecord?
    ) async -> Source.Stored {
        if isPrivate { return .nowhere }
        guard !record.reuse.directives.forbidStoring else {
            await removeCopies(under: fetch.token)
            return .nowhere
        }
        guard !directives.noStore else {
            record.reuse.directives.insert(.noStore)
            return .nowhere
        }
        return await tiers.storeOriginal(
            original.content, at: original.place, as: record, replacing: stale,
            receivedAt: fetch.received.receivedAt,
            scope: scope, for: context.client, token: fetch.token, now: now.seconds)
    }

    /// A stored source as a 304 leaves it; nil where the 304 speaks of another one, or forbids to store it.
    private func confirmedSource(
        _ stale: SourceRecord, by head: OriginHead, of fetch: OriginalFetch
    ) async -> Source? {
        // One that was stored before a redirect led to where another format is wanted is not valid any more.
        let wanted = request.rule?.storeAs == nil ? fetch.received.hops.storeAs : nil
        guard FreshnessPolicy.confirms(head, stale), wanted == nil || wanted == stale.format else {
            return nil
        }
        var record = freshness.updating(stale, with: head, after: fetch.received.redirects)
        apply(fetch, to: &record)
        guard !record.reuse.directives.forbidStoring else {
            await removeCopies(under: fetch.token)
            return nil
        }
        await tiers.saveIfLatest(
            record, receivedAt: fetch.received.receivedAt, scope: scope, token: fetch.token)
        return Source(record: record, provenance: .revalidated(.stale))
    }

    /// Removes what was stored of a source that its origin has no more, whether or not it is on record.
    private func removeGoneCopies(under token: PurgeToken) async {
        guard !isPrivate, isAboutAllClients, token.isValid else { return }
        await tiers.removeAll(ofSource: request.sourceKey)
    }

    /// Removes what was stored before the origin forbade to store it.
    private func removeCopies(under token: PurgeToken) async {
        guard isAboutAllClients, token.isValid, await tiers.record(for: request) != nil else { return }
        await tiers.removeAll(ofSource: request.sourceKey)
    }

    /// Whether the origin would answer any client so: the request names no proxies, and no parameter that the source's key
    /// leaves out.
    private var isAboutAllClients: Bool { context.history == nil && request.rule?.dropsParameters != true }
}
