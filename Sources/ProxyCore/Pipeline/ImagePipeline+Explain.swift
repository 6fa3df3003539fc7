// SPDX-License-Identifier: Apache-2.0

import Bodies
package import Cache
package import Freshness
import Origins
import Primitives
package import Request
package import URLs

/// What is stored for a request, and what would happen if it came now.
package struct ImageExplanation: Sendable {
    /// One stored picture.
    package struct Stored: Sendable {
        package let tier: Tier
        /// What its bytes are.
        package let description: EntryDescription
        /// How many these are.
        package let bytes: Int64
        /// Whether it was made from what the source's record names as its content.
        package let isCurrent: Bool
    }

    /// Where pictures are stored.
    package enum Tier: String, Sendable {
        case memory
        case openFile = "open file"
        case disk
        case readOnlyFolder = "read-only folder"
    }

    /// Where the answer would come from.
    package enum Answer: Sendable {
        /// A stored result, as it is.
        case stored(Tier)
        /// Made from the stored original.
        case rendered
        /// What another request is having made now.
        case joined
        /// A copy, once the origin has confirmed it.
        case revalidated
        /// The origin.
        case fetched
        /// No picture.
        case failed(PipelineError)
    }

    /// A failure that is remembered.
    package struct Remembered: Sendable {
        package let error: PipelineError
        /// For how many seconds more.
        package let seconds: Int64
    }

    /// The request: of what the rules of its source make of it.
    package var request: ImageRequest
    /// What is requested from the origin; nil where a rule makes no URL of the source.
    package var target: SourceURL?
    /// What is known of the source; nil if nothing is.
    package var record: SourceRecord?
    /// Whether what is stored of it may be used; nil without a record.
    package var reuse: FreshnessPolicy.Reuse?
    /// The result, and what it may be made from.
    package var stored: [Stored] = []
    package var failures: (source: Remembered?, result: Remembered?) = (nil, nil)
    /// Why the origin is left alone now; nil if it is not.
    package var originFailure: PipelineError?
    /// Whether the source is being fetched, and the result being made.
    package var running: (fetch: Bool, image: Bool) = (false, false)
    /// What the shared tier has, where it would be asked; nil where it would not, or there is none.
    package var shared: (record: Bool, picture: Bool)?
    /// What would be answered.
    package var answer = Answer.fetched
}

extension ImagePipeline {
    /// Says what a request would meet now, without asking the origin, making a picture, or counting as a use.
    ///
    /// Reads the index and the bodies of what is stored. Another request may change it all in the same moment.
    package func explain(_ request: ImageRequest) async -> ImageExplanation {
        var job = ImageJob(self, request, directives: RequestDirectives(request.delivery.options))
        if request.plan == nil, !request.mayPassThrough { job = job.rasterized }
        var facts = await facts(of: job)
        if let decided = facts.record.map({ job.decided(by: $0) }),
            decided.request.resultKey != job.request.resultKey
        {
            job = decided
            facts = await self.facts(of: job)
        }
        facts.answer = answer(to: job, facts)
        switch facts.answer {
        case .fetched, .revalidated: facts.shared = await job.sharedHoldings()
        case .stored, .rendered, .joined, .failed: break
        }
        return facts
    }

    private func facts(of job: ImageJob) async -> ImageExplanation {
        let (request, now) = (job.request, clock())
        var facts = ImageExplanation(request: request)
        facts.target = request.rule.map { $0.target(of: request.source) } ?? request.source
        facts.record = await tiers.record(for: request)
        facts.reuse = facts.record.map { freshness.reuse(of: $0, at: now, for: job.directives) }
        facts.stored = await stored(request, facts.record)
        facts.failures = failures.explained(request, nil, facts.record?.contentHash, at: now.seconds)
        facts.originFailure = facts.target.flatMap { failures.hosts.refusal(of: $0.origin, at: now.seconds) }
        facts.running.image = [false, true].contains {
            tasks.progress(of: job.key(asksNodes: $0)) != nil
        }
        facts.running.fetch = [false, true].contains {
            fetches.progress(of: job.fetchKey(isConditional: $0)) != nil
        }
        return facts
    }

    private func stored(
        _ request: ImageRequest, _ record: SourceRecord?
    ) async -> [ImageExplanation.Stored] {
        var found: [ImageExplanation.Stored] = []
        func add(_ tier: ImageExplanation.Tier, _ description: EntryDescription, _ bytes: Int64) {
            found.append(
                ImageExplanation.Stored(
                    tier: tier, description: description, bytes: bytes,
                    isCurrent: description.sourceHash == record?.contentHash))
        }
        for (cache, tier) in [(tiers.memory, ImageExplanation.Tier.memory), (tiers.openFiles, .openFile)] {
            guard let entry = cache.peek(request.resultKey), entry.isIntact else { continue }
            add(tier, entry.description, Int64(entry.body.count))
        }
        let results: [EntryKind] = request.plan == nil ? [] : EntryKind.results
        let places = results.map { (request.resultKey, $0, request.resultKeyText) }
        for (key, kind, text) in places + [(request.sourceKey, .original, request.sourceKeyText)] {
            // Ignored: why it can't be read; the request would meet that as a miss, and count it.
            guard let hit = try? await tiers.disk.findOnIOThread(key, kind, text, .inAnyFile) else {
                continue
            }
            add(hit.isReadOnly ? .readOnlyFolder : .disk, hit.description, Int64(hit.body.count))
        }
        if let record, let intermediate = await ImageJob(self, request).explainedIntermediate(of: record) {
            add(.disk, intermediate.description, Int64(intermediate.body.count))
        }
        return found
    }

    /// Follows the way of a request, in `ImageJob`, as far as it goes by what is known.
    private func answer(to job: ImageJob, _ facts: ImageExplanation) -> ImageExplanation.Answer {
        let now = clock()
        if job.request.delivery.options.contains(.handleCookies) { return asked(job, facts) }
        guard let record = facts.record, facts.reuse != nil, facts.reuse != .forbidden else {
            if facts.running.image { return .joined }
            return revalidated(job, facts)
        }
        guard job.request.matchesStoreAs(record) else { return asked(job, facts) }
        if let result = facts.stored.first(where: { isResult($0, of: job.request, at: now) }) {
            return .stored(result.tier)
        }
        if facts.running.image { return .joined }
        let bases: [EntryKind] = [.original, .intermediate]
        guard facts.stored.contains(where: { bases.contains($0.description.kind) && $0.isCurrent }) else {
            return asked(job, facts)
        }
        return facts.failures.result.map { .failed($0.error) } ?? .rendered
    }

    private func isResult(
        _ stored: ImageExplanation.Stored, of request: ImageRequest, at now: WallTime
    ) -> Bool {
        stored.isCurrent && stored.description.isUsable(at: now.seconds)
            && (request.plan == nil || stored.description.kind.isResult)
    }

    /// What happens where the origin is to confirm what is stored, if anything is.
    private func revalidated(_ job: ImageJob, _ facts: ImageExplanation) -> ImageExplanation.Answer {
        guard let record = facts.record, facts.stored.contains(where: \.isCurrent) else {
            return asked(job, facts)
        }
        guard case .failed(let error) = asked(job, facts) else { return .revalidated }
        guard job.mayServe(record, despite: error) else { return .failed(error) }
        let result = facts.stored.first { isResult($0, of: job.request, at: clock()) }
        return result.map { .stored($0.tier) } ?? .rendered
    }

    /// What happens where the origin is to be asked.
    private func asked(_ job: ImageJob, _ facts: ImageExplanation) -> ImageExplanation.Answer {
        if job.directives.onlyIfCached { return .failed(.notCached) }
        let ofResult = job.request.plan == nil ? nil : facts.failures.result
        if !job.directives.retryFailed, let failure = facts.failures.source ?? ofResult {
            return .failed(failure.error)
        }
        if let failure = facts.originFailure { return .failed(failure) }
        guard facts.target != nil else {
            return .failed(
                .sourceForbidden.explained("the rewrite of its origin rule makes no valid URL of it"))
        }
        return .fetched
    }
}
