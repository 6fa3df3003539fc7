// SPDX-License-Identifier: Apache-2.0

import Bodies
import Freshness
import Imaging
import Loading
import Origins
import Request

extension ImageJob {
    /// An original in the format that its rule wants it stored in (SDWebImage: cacheSerializer).
    ///
    /// From then on that is the original: what is made of it, and what goes out without a transform.
    func serialized(
        _ original: ReceivedOriginal, as format: ImageFormat?
    ) async throws(LoadError) -> ReceivedOriginal {
        guard let format, format != original.format else { return original }
        var plan = pipeline.configuration.rasterPlan
        plan.format = .explicit(format)
        plan.metadata = .keep
        // Stored for as long as the source is, and never made anew.
        plan.effort = .full
        let rendition: Rendition
        var target = try LoadError.translated(tiers.memoryTarget)
        do throws(RenderError) {
            rendition = try await countedRendition(plan, from: original.content.body, to: &target)
        } catch {
            throw .unusable(error)
        }
        let written = StoredBody.file(target.file, offset: target.offset, length: Int64(rendition.byteCount))
        return try await adopted(written, as: rendition.format)
    }

    /// Bytes that were made here, as if they had been fetched.
    private func adopted(
        _ written: StoredBody, as format: ImageFormat
    ) async throws(LoadError) -> ReceivedOriginal {
        guard let bytes = await tiers.bytes(of: written) else {
            throw .storage("a rendition can't be read back")
        }
        let (body, place) = tiers.newBody(keyText: request.sourceKeyText, scope: scope)
        let appended: Result<Void, BodyError> = unsafe bytes.withUnsafeBytes { bytes in
            Result { () throws(BodyError) in try unsafe body.append(bytes) }
        }
        try LoadError.translated(appended.get)
        body.finish()
        guard let content = body.content else { throw .storage("the body can't be read back") }
        return ReceivedOriginal(content: content, place: place, format: format)
    }
}

extension ImageRequest {
    /// Whether a stored original is what the request's rule has originals be.
    ///
    /// One that was stored before the rule was made is not: it counts as if there were none.
    func matchesStoreAs(_ record: SourceRecord) -> Bool {
        rule?.storeAs.map { $0 == record.format } ?? true
    }
}
