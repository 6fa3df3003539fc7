// SPDX-License-Identifier: Apache-2.0

/// A row of the index: what eviction and purging need to know of an entry.
struct IndexEntry: Sendable, Equatable {
    /// The entry.
    let id: EntryID
    /// The key of the source it was made from.
    let sourceKey: CacheKey
    /// The length of its file in bytes.
    let bytes: Int64
    /// When it was stored, in seconds since 1970.
    let storedAt: Int64
    /// When it was last served, in seconds since 1970; some minutes behind.
    let accessedAt: Int64
}

/// One change of the index; many go into one transaction.
enum IndexChange: Sendable {
    /// An entry is there, in place of an earlier one.
    case put(IndexEntry)
    /// An entry is gone.
    case delete(EntryID)
    /// An entry was served at this time.
    case touch(EntryID, at: Int64)
    /// A source's record, in place of an earlier one, saved at this time.
    case save(SourceRecord, at: Int64)
    /// A source's record is forgotten.
    case deleteRecord(CacheKey)
    /// A tag hangs on a result, seen at this time.
    case link(TagLink, at: Int64)
    /// A tag no longer hangs on a result.
    case unlink(TagLink)
    /// Everything is gone, apart from tags where they are kept.
    case deleteEverything(keepingTags: Bool)

    /// Whether no link of any tag is left behind it.
    var forgetsAllTags: Bool {
        guard case .deleteEverything(keepingTags: false) = self else { return false }
        return true
    }
}
