// SPDX-License-Identifier: Apache-2.0

extension DiskCache {
    /// The record that follows from an original, or else a result, in a read-only folder; nil when there is neither.
    ///
    /// Nobody but its operator can say how long it is good, so it is fresh for as long as it is there.
    func seededRecord(
        source: CacheKey, sourceText: String, result: CacheKey, resultText: String
    ) async -> SourceRecord? {
        guard !seeds.isEmpty else { return nil }
        for (key, kind, text) in [(source, EntryKind.original, sourceText), (result, .result, resultText)] {
            // Lost: why it can't be read; it is counted, and the picture is fetched.
            guard mayContain(key, kind: kind), let hit = try? await lookUp(key, kind: kind, keyText: text),
                hit.isSeeded
            else { continue }
            let seeded = hit.description
            return SourceRecord(
                key: source, keyText: sourceText, contentHash: seeded.sourceHash,
                byteCount: kind == .original ? hit.body.count : 0, format: seeded.format,
                responseTime: seeded.storedAt, freshnessLifetime: Self.seededLifetime,
                directives: [.explicitLifetime, .seeded])
        }
        return nil
    }

    /// A hundred years, in seconds.
    private static let seededLifetime: Int64 = 100 * 365 * 86_400

    /// Looks an entry up in the read-only folders, in their order.
    func findSeeded(
        _ id: EntryID, keyText: String, fromMemory: Bool
    ) throws(DiskCacheError) -> DiskLookUp {
        for seed in seeds where seed.entries.mayContain(id) {
            switch try seed.folder.open(id, fromMemory: fromMemory, countedBy: parts.bodies) {
            case .missing: seed.entries.remove(id)
            case .wouldBlock: return .wouldBlock
            case .file(let file):
                let file = EntryFile(file: file, status: try seed.folder.status(of: file))
                switch try read(file, as: id, keyText: keyText, fromMemory: fromMemory) {
                case .entry(var hit):
                    hit.isSeeded = true
                    return .hit(hit)
                case .wouldBlock: return .wouldBlock
                case .foreign: continue
                case .damaged:
                    // It is not ours to remove.
                    parts.counters.foundCorrupt()
                    seed.entries.remove(id)
                }
            }
        }
        return .miss
    }
}
