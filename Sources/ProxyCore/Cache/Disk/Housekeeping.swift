// SPDX-License-Identifier: Apache-2.0

/// What the writer does between batches, and how far it has come.
struct Housekeeping: Sendable {
    /// The steps of a sweep, in order.
    enum Phase: Sendable {
        /// Removing what is too old.
        case age
        /// Forgetting the source records saved longest ago, when there are too many or the index is too large.
        case records
        /// Purging what the tags seen longest ago hang on, when there are too many.
        case tags
        /// Giving unused pages of the index back.
        case vacuum
        /// Removing the oldest until the low-water mark, when the tier is over its size.
        case size
    }

    /// The reading of the index at the start.
    enum Loading: Sendable {
        /// It goes on.
        case underway
        /// All has been read.
        case done
        /// The index could not be read.
        case failed
    }

    /// A sweep that is going on.
    struct Sweep: Sendable {
        /// The step it is at.
        var phase = Phase.age
        /// How many bytes are to be left, once it is known that there are too many.
        var target: Int64?
        /// Entries removed so far.
        var removed = 0
        /// Whom to tell when it is over.
        var completions: [@Sendable (Result<Int, DiskCacheError>) -> Void] = []
    }

    /// Whether the writer has begun.
    var hasBegun = false
    /// Whether the writer has closed the index.
    var hasEnded = false
    /// The sweep that is going on.
    var sweep: Sweep?
    /// Those who asked for a sweep while one was going on; they get the next.
    var waiting: [@Sendable (Result<Int, DiskCacheError>) -> Void] = []
    /// Accesses that are being written.
    var touches = TouchRound([:])
    /// Whether those that have been collected are to be written next, however few.
    var mustWriteTouches = false
    /// The next time for that, in nanoseconds of the uptime.
    var touchesNotBefore: UInt64 = 0
    /// Folders that have yet to be looked through.
    var scan: [DiskFolder.Shard]
    /// Those of them that could not be looked through, and come again after the next sweep; and why.
    var unreadable: [DiskFolder.Shard] = []
    var whyUnreadable: DiskCacheError?
    /// Names found in the folder that is being looked through.
    var names: [String] = []
    /// How far the reading of what the index knew at the start has come.
    var loading = Loading.underway
    /// Whether there may be discarded folders; true at the start, for they may be another run's.
    var hasTrash = true

    /// Begins with these folders to look through.
    init(scan: [DiskFolder.Shard]) {
        self.scan = scan
    }
}
