// SPDX-License-Identifier: Apache-2.0

/// One thing that the writing side of the disk tier is asked to do.
struct WriteJob: Sendable {
    /// What there is to do.
    enum Task: Sendable {
        /// Name a staged file, whose header is written, as the entry's; and remember its source's record, if given.
        case commit(
            IndexEntry, OwnedDescriptor, durable: Bool, record: SourceRecord?, PurgeLedger.Permit?)
        /// The same for a body that has yet to be written.
        case store(Draft, durable: Bool, record: SourceRecord?, PurgeLedger.Permit?)
        /// Have an entry survive a loss of power, if that is still the file in its place; its bytes are on the disk already.
        case secure(IndexEntry, VerifiedFiles.Identity)
        /// Remove an entry.
        case remove(EntryID, because: EvictionReason)
        /// Remove an entry whose file is damaged, if that is still the file there; nil when there was none at all.
        case discard(EntryID, VerifiedFiles.Identity?)
        /// Remember a source's record.
        case save(SourceRecord, PurgeLedger.Permit?)
        /// The same if it is still what is known of the source when its turn comes.
        case saveLate(SourceRecord, PurgeLedger.Permit?, isCurrent: @Sendable () -> Bool)
        /// Forget a source's record.
        case removeRecord(CacheKey)
        /// Remove every entry made from a source, and its record.
        case removeSource(CacheKey)
        /// Remember tags.
        case link([TagLink])
        /// Remove every result under a tag; `found` hears of them first.
        case removeTag(String, found: @Sendable ([TagLink]) -> Void)
        /// Remove everything; tags unless another tier has something that they hang on.
        case removeAll(keepingTags: Bool)
        /// Do a whole sweep, accesses written first.
        case sweep
        /// Nothing; all that was asked before is done then.
        case nothing
    }

    /// An entry whose body is in memory.
    struct Draft: Sendable {
        let description: EntryDescription
        let body: [UInt8]
        /// The body's CRC32C.
        let checksum: UInt32
        /// What is known of the source: kept beside the body.
        let record: SourceRecord?

        /// The same without a word on the source, of which something later is known.
        var withoutRecord: Draft {
            Draft(description: description, body: body, checksum: checksum, record: nil)
        }
    }

    /// What there is to do.
    let task: Task
    /// Called once when it is done, with how many entries or records it was about; nil when nobody waits.
    let completion: (@Sendable (Result<Int, DiskCacheError>) -> Void)?
    /// Whether it may wait for others to share a batch with.
    var isPatient = false
}
