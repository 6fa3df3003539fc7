// SPDX-License-Identifier: Apache-2.0

import Cache
import Freshness
import Request

extension ImageTiers {
    /// Makes what is answered from a tier survive a loss of power: syncs the entry's file; writes one first
    /// if the entry is in memory only.
    ///
    /// Nothing happens where the disk tier is off, and a failure is the tier's to count. What is in memory is marked, so
    /// that this is done once for it.
    /// - Parameter token: given before the response was looked up.
    func secure(
        _ response: inout ImageResponse, for request: ImageRequest, token: PurgeToken
    ) async {
        let record = response.record
        var description = response.description
        let isOriginal = description.kind == .original
        guard !response.isDurable, response.entry?.isDurable != true, !record.directives.forbidStoring,
            (isOriginal ? originals : results).usesDisk, !token.knowsNewerContent(than: description)
        else { return }
        if isOriginal { description.name(request.sourceKey, request.sourceKeyText) }
        // Lost: why the disk can't answer; the tier has counted it, and to store is to try once more.
        if (try? await disk.secure(description)) == true { return markSecured(&response) }
        guard let bytes = await bytes(of: response.body) else { return }
        // The index knows more of a source than a file does.
        let known = await disk.sourceRecord(for: record.key)
        guard known.map({ $0.contentHash == description.sourceHash }) ?? true else { return }
        do throws(DiskCacheError) {
            try await disk.store(
                description, body: bytes, record: known ?? record, savesRecord: known == nil, durable: true,
                token: token)
        } catch {
            return
        }
        markSecured(&response)
    }

    private func markSecured(_ response: inout ImageResponse) {
        response.isDurable = true
        response.isStored = true
        response.entry?.markDurable()
    }
}
