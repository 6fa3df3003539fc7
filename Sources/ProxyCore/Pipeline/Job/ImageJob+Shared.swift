// SPDX-License-Identifier: Apache-2.0

import Bodies
import Cache
import Freshness
import Primitives
import Request
import Sharing

/// What is shared of an image: what its source's home and the tier that nodes share have of it, and what that tier is offered.
///
/// The home is asked first, then the tier, both after the node's own tiers and before the origin, and each once for a picture;
/// a failure is a miss.
extension ImageJob {
    /// Whether the shared tier may have the image, or may get it.
    private var isShareable: Bool { !isPrivate && !request.source.isUpload && scope.usesDisk }

    /// What has been asked so far; nil where neither a home nor the shared tier may be asked.
    private var answers: SharedAnswers? { isShareable ? sharedAnswers : nil }

    /// The source as its home or the shared tier knows it; nil where this node may use its own record. A picture that comes with
    /// it is kept for `sharedResult`.
    ///
    /// A client's `no-cache` has the origin confirm the record, wherever that lies. It forbids no bytes of the content that is
    /// then confirmed, so the look-ups of result and original below do not depend on it.
    func sharedSource(insteadOf known: SourceRecord?) async -> Source? {
        guard let answers, !directives.noCache else { return nil }
        // What an operator has purged by a tag is confirmed by the origin, whatever others have.
        if known?.reuse.directives.contains(.mustConfirm) == true { return nil }
        if let known, request.matchesStoreAs(known),
            freshness.reuse(of: known, at: now, for: directives) != .forbidden
        {
            return nil
        }
        let subject = SharedSubject(request)
        if let found = await homeSource(of: subject, answers) { return found }
        guard let shared = tiers.shared else { return nil }
        let asksForResult = request.plan != nil && answers.begin(.store, subject.result)
        let (found, result) = await context.traced("shared look-up") {
            await shared.lookUp(subject, withResult: asksForResult)
        }
        if let result { answers.keep(result, as: subject.result) }
        guard let record = found, request.matchesStoreAs(record),
            // Whole seconds, as the store's ages are.
            known.map({ $0.reuse.responseTime.seconds < record.reuse.responseTime.seconds }) ?? true
        else { return nil }
        shared.noteShared(subject.source)
        await tiers.saveIfLatest(record, receivedAt: .now, scope: scope, token: token)
        return Source(record: record, provenance: .stored)
    }

    /// The picture of the request, and the record of its source, as the source's home among the nodes has them, or has made them
    /// for this node; nil where this node is the home, or does without, or has asked before.
    private func homeAnswer(
        _ subject: SharedSubject, _ answers: SharedAnswers
    ) async -> (record: SourceRecord, entry: PortableEntry)? {
        guard let homes = tiers.homes, let asked = context.asked, !directives.onlyIfCached,
            answers.begin(.home, subject.result)
        else { return nil }
        return await context.traced("home") {
            await homes.picture(
                of: subject, target: asked.target, accept: asked.accept, client: context.client)
        }
    }

    /// The source with the picture or the original, as its home has it.
    private func homeSource(of subject: SharedSubject, _ answers: SharedAnswers) async -> Source? {
        guard let answer = await homeAnswer(subject, answers), request.matchesStoreAs(answer.record) else {
            return nil
        }
        await tiers.saveIfLatest(answer.record, receivedAt: .now, scope: scope, token: token)
        let source = Source(record: answer.record, provenance: .stored)
        guard answer.entry.description.kind == .original else {
            answers.keep(answer.entry, as: subject.result)
            return source
        }
        return await adopting(answer.entry, in: source)
    }

    /// The source with an original from elsewhere, which is stored here, too.
    private func adopting(_ original: PortableEntry, in source: Source) async -> Source {
        await tiers.storeShared(original, of: source.record, scope: scope, token: token)
        var found = source
        // A job that waits for a worker holds it as long as it waits.
        let isLarge = original.body.count > PartialBody.Configuration().memoryLimit.bytes
        let file = isLarge ? await tiers.spilled(original.body, keyText: request.sourceKeyText) : nil
        found.body = file ?? .bytes(original.body)
        if request.plan == nil, found.provenance == .stored { found.provenance = .shared }
        return found
    }

    /// The picture as its source's home or the shared tier has it, if it was made from the source's present content.
    func sharedResult(of source: Source) async -> ImageResponse? {
        guard let answers, request.plan != nil else { return nil }
        let subject = SharedSubject(request)
        let hash = source.record.contentHash
        var entry = answers.take(subject.result)
        if entry?.description.sourceHash != hash {
            // The bytes were fetched just now; that another node made this picture meanwhile is too unlikely to ask.
            guard source.body == nil else { return nil }
            entry = await result(of: subject, madeFrom: hash, answers)
        }
        guard var found = entry else { return nil }
        found.description.storedAt = now.seconds
        tiers.shared?.noteShared(subject.result)
        await tiers.storeShared(found, of: source.record, scope: scope, token: token)
        var response = ImageResponse(of: source, found.description, .bytes(found.body), provenance: .shared)
        response.isStored = true
        await promote(&response)
        return response
    }

    /// A picture from the source's home, unless this node has the original, or from the shared tier.
    private func result(
        of subject: SharedSubject, madeFrom hash: ContentHash, _ answers: SharedAnswers
    ) async -> PortableEntry? {
        if !tiers.mayHoldOriginal(of: request), let made = await homeAnswer(subject, answers)?.entry,
            made.description.kind.isResult, made.description.sourceHash == hash
        {
            return made
        }
        guard let shared = tiers.shared, answers.begin(.store, subject.result) else { return nil }
        return await context.traced("shared result") {
            await shared.result(of: subject, madeFrom: hash)
        }
    }

    /// The source with its original as its home or the shared tier has it; nil where neither has.
    func sharedOriginal(of source: Source) async -> Source? {
        guard let answers else { return nil }
        let (subject, hash) = (SharedSubject(request), source.record.contentHash)
        if request.plan == nil, let sent = await homeAnswer(subject, answers)?.entry,
            sent.description.kind == .original, sent.description.contentHash == hash
        {
            return await adopting(sent, in: source)
        }
        guard let shared = tiers.shared, shared.configuration.originals else { return nil }
        let entry = await context.traced("shared original") {
            await shared.original(hash, of: subject)
        }
        guard let entry else { return nil }
        shared.noteShared(request.sourceKey)
        return await adopting(entry, in: source)
    }

    /// What the shared tier has of the image, for an operator; nil where it would not be asked.
    func sharedHoldings() async -> (record: Bool, picture: Bool)? {
        guard let shared = tiers.shared, isShareable, !directives.noCache else { return nil }
        let subject = SharedSubject(request)
        let (record, result) = await shared.lookUp(subject, withResult: request.plan != nil)
        guard let record, request.plan == nil, shared.configuration.originals else {
            return (record != nil, record.map { $0.contentHash == result?.description.sourceHash } ?? false)
        }
        return (true, await shared.original(record.contentHash, of: subject) != nil)
    }

    // MARK: - Offering

    /// Offers an original that has just been fetched, or the record that a 304 has confirmed.
    func offer(fetched source: Source) {
        guard let shared = tiers.shared, isShareable else { return }
        let subject = SharedSubject(request)
        guard source.body == nil else {
            return tiers.offer(subject, .original, source.record, cost: source.fetchTime / 1_000)
        }
        let record = source.record
        shared.offerRecord(
            SharedUpload(.record, of: subject, token: token) {
                SharedUpload.Content(record: record, entry: nil)
            })
    }

    /// Offers a picture that has just been made.
    func offer(made response: ImageResponse) {
        guard tiers.shared != nil, isShareable, response.isStored else { return }
        let timings = response.timings
        let cost = (timings.fetch + timings.decode + timings.transform + timings.encode) / 1_000
        tiers.offer(SharedSubject(request), response.description.kind, response.record, cost: cost)
    }

    /// Offers what a tier had, since it was used again.
    func offerUse(_ description: EntryDescription, of record: SourceRecord) {
        guard tiers.shared != nil, isShareable else { return }
        tiers.offer(SharedSubject(request), description.kind, record, cost: nil)
    }
}
