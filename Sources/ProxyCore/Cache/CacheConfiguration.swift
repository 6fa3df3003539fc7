// SPDX-License-Identifier: Apache-2.0

/// The two tiers. Configuration: `cache`.
public struct CacheConfiguration: Sendable, Hashable, Codable {
    /// The memory tier.
    public var memory = MemoryCacheConfiguration()
    /// The disk tier.
    public var disk = DiskCacheConfiguration()
    /// Which tiers store originals (SDWebImage: originalStoreCacheType). Default `disk`.
    public var originals: StorePolicy = .disk
    /// Which tiers store results (SDWebImage: storeCacheType). Default `all`.
    public var results: StorePolicy = .all

    /// Which tiers store a kind of entry.
    public enum StorePolicy: String, Sendable, Hashable, Codable, CaseIterable {
        /// No tier.
        case none
        /// Memory only.
        case memory
        /// Disk only.
        case disk
        /// Memory and disk.
        case all

        /// Whether the memory tier stores it.
        public var usesMemory: Bool { self == .memory || self == .all }
        /// Whether the disk tier stores it.
        public var usesDisk: Bool { self == .disk || self == .all }
    }

    /// The defaults.
    public init() {}
}

/// Bounds of the memory tier. Configuration: `cache.memory`.
public struct MemoryCacheConfiguration: Sendable, Hashable, Codable {
    /// Most bytes of bodies and their metadata; 0B (the default) means a tenth of the machine's memory, at most 1GiB.
    ///
    /// All tables whose entries clients or origins lengthen count within it: request targets with their answers' heads, and what is
    /// known of open files (an eighth each at most, 16MiB at least), source records and remembered failures (a 16th each, 4MiB
    /// at least). Bodies have half in any case.
    public var maxBytes: ByteCount = ByteCount(0)
    /// Most entries; 0 (the default) means no bound but bytes (SDWebImage: maxMemoryCount).
    public var maxEntries: Int = 0
    /// A larger body is not kept in memory. Default 4MiB, and never more than an eighth of a shard.
    public var maxEntryBytes: ByteCount = .mebibytes(4)
    /// Bounds that seldom need a change.
    public var limits = Limits()

    /// Bounds of single steps. Configuration: `cache.memory.limits`.
    public struct Limits: Sendable, Hashable, Codable {
        /// Most shards, each with a lock of its own; fewer where an eighth of a shard would not hold the largest entry.
        ///
        /// Default 16.
        public var maxShards: Int = 16
        /// Most entries that one insertion pushes out; it is refused where that does not make room enough.
        ///
        /// Default 256.
        public var maxEvictionsPerInsert: Int = 256
        /// Most entries with a second chance that one eviction passes over before it takes one all the same.
        ///
        /// Default 1024.
        public var scanLimit: Int = 1_024
        /// Most evicted entries that are found again while answers are sent from them, about 100 bytes each.
        ///
        /// Default 4096; 0 finds none (SDWebImage: shouldUseWeakMemoryCache).
        public var maxDeparted: Int = 4_096
        /// Most request targets remembered with their answers' heads, about two kibibytes each; more are parsed anew, as are
        /// targets beyond 2KiB.
        ///
        /// Default 65536; an eighth of it for `/info`. They take at most an eighth of `maxBytes`, 16MiB at least.
        public var maxTargets: Int = 65_536

        /// The defaults.
        public init() {}
    }

    /// The defaults.
    public init() {}
}

/// Place and bounds of the disk tier. Configuration: `cache.disk`.
public struct DiskCacheConfiguration: Sendable, Hashable, Codable {
    /// The folder; empty (the default) means systemd's `CACHE_DIRECTORY`, else `imageproxyd` in the user's cache folder.
    public var directory: String = ""
    /// Most bytes of the disk: the blocks of entries, of the index with its journal, and of the folders. Default 10GiB
    /// (SDWebImage: maxDiskSize).
    ///
    /// The index takes at most a quarter; beyond it the source records saved longest ago go. Entries always have half, so that
    /// below some 32MiB the tier may take more.
    public var maxBytes: ByteCount = .gibibytes(10)
    /// Entries older than this go. Default 7d (SDWebImage: maxDiskAge).
    public var maxAge: TimeSpan = .days(7)
    /// What age is counted from. Default `access` (SDWebImage: diskCacheExpireType).
    public var expireBy: ExpireBy = .access
    /// A sweep that finds the tier over `maxBytes` removes the oldest entries down to this share of it. Default 0.9.
    public var lowWater: Double = 0.9
    /// Files of entries that memory does not hold and that are kept open, so that a hit opens nothing.
    ///
    /// Default 16384, range 0–1000000. What there are too few descriptors for is less: clients have the first right to them
    /// (two each), and 1024, or a quarter where there are few, are left to others.
    public var openFiles: Int = 16_384
    /// Folders with entries made before, laid out as `directory` is, that are read when nothing else has a picture.
    ///
    /// What lies there is fresh for as long as it does, is never changed, and is not reached by a purge. Default none
    /// (SDWebImage: additionalCachePathBlock).
    public var readOnlyPaths: [String] = []
    /// Time between sweeps. Default 60s.
    public var sweepInterval: TimeSpan = .seconds(60)
    /// Bounds that seldom need a change.
    public var limits = Limits()

    /// Bounds of queues, tables and single steps. Configuration: `cache.disk.limits`.
    public struct Limits: Sendable, Hashable, Codable {
        /// Threads that read files at once. Default 4.
        public var readers: Int = 4
        /// Most look-ups that wait for such a thread; one more is answered with 503. Default 512.
        public var maxWaitingReads: Int = 512
        /// Most changes that wait for the index; one more is not stored, and counted. Default 1024.
        public var maxWaitingWrites: Int = 1_024
        /// Most bytes of small originals that wait in memory for their files; one more is not stored, and counted.
        ///
        /// Default 32MiB.
        public var maxWaitingBytes: ByteCount = .mebibytes(32)
        /// Most changes in one transaction, and entries in one step of a sweep. Default 128.
        public var batchSize: Int = 128
        /// How long a small original stays in memory alone, so that many are written in one go.
        ///
        /// It is found there meanwhile. 0 has every answer wait for the file. Default 20ms.
        public var storeDelay: TimeSpan = .milliseconds(20)
        /// Most entries whose access waits to be written; more accesses are forgotten, and counted. Default 65536.
        public var maxTouches: Int = 65_536
        /// An access is written only if the one on disk is older than this. Default 10m.
        public var accessPrecision: TimeSpan = .minutes(10)
        /// Most source records on disk; beyond it the ones saved longest ago go, as where the index takes more than a quarter of
        /// `cache.disk.maxBytes`. Default 1000000.
        public var maxSourceRecords: Int = 1_000_000
        /// Most ties of a tag to a result on disk, and at most one for 4KiB of `cache.disk.maxBytes`. Beyond it those seen longest
        /// ago go, and take their results with them. Default 1000000.
        public var maxTagLinks: Int = 1_000_000
        /// Most source records also kept in memory, where they take at most a 16th of `cache.memory.maxBytes`, 4MiB
        /// at least. Default 10000.
        public var maxRecordsInMemory: Int = 10_000
        /// Files remembered to have passed their checksum, 8 bytes each; others are checked again. Default 131072.
        public var maxVerified: Int = 131_072
        /// A larger body is not checked on the caller's thread but by the readers. Default 64KiB.
        public var maxVerifyNow: ByteCount = .kibibytes(64)
        /// Disk space kept aside, so that entries can be deleted when the disk is full; at most a 16th of `cache.disk.maxBytes`, of
        /// which it is a part. Default 4MiB.
        public var ballast: ByteCount = .mebibytes(4)
        /// Most bytes that the index's journal keeps between checkpoints; at most a 16th of `cache.disk.maxBytes`. Default 16MiB.
        public var maxJournal: ByteCount = .mebibytes(16)

        /// The defaults.
        public init() {}
    }

    /// What age is counted from.
    public enum ExpireBy: String, Sendable, Hashable, Codable, CaseIterable {
        /// The last time the entry was served.
        case access
        /// The time it was stored.
        case modification
    }

    /// The defaults.
    public init() {}
}

/// The blacklist of failed URLs (SDWebImage: failedURLs). Configuration: `failedURLs`.
public struct FailedURLsConfiguration: Sendable, Hashable, Codable {
    /// Most remembered failures, which take at most a 16th of `cache.memory.maxBytes`, 4MiB at least; beyond it the one that ends
    /// soonest is forgotten. Default 10000.
    public var maxEntries: Int = 10_000
    /// How long each class is remembered.
    public var ttl = TTL()
    /// The share of its time by which chance may shorten a failure's, so that many are not tried again at once.
    ///
    /// Default 0.1.
    public var jitter: Double = 0.1
    /// Longest time for which an origin is obeyed that says when it wants to be asked again (`Retry-After`): a URL that it
    /// refuses is not asked for so long.
    ///
    /// Default 1m; 0 obeys none. `fetch.maxRetryAfter`, which says how much of it is passed on, bounds this, too.
    public var maxRetryAfter: TimeSpan = .minutes(1)
    /// When origins that can't be connected to are left alone.
    public var breaker = Breaker()

    /// When an origin (scheme, host and port) is left alone. Configuration: `failedURLs.breaker`.
    public struct Breaker: Sendable, Hashable, Codable {
        /// Failures to connect in a row (DNS, connection, TLS, `fetch.connectTimeout`), each at most `maximum` after the
        /// one before. What fails after the request was sent does not count. As many answers of 429 in a row to one client
        /// have the origin left alone for that client.
        ///
        /// Default 5; then fetches are refused with 503 `host_unavailable`.
        public var failures: Int = 5
        /// How long the origin is then left alone; doubled each time that a probe fails. Default 2s.
        public var pause: TimeSpan = .seconds(2)
        /// The longest such time, also where an origin's `Retry-After` wants more. Default 1m.
        public var maximum: TimeSpan = .minutes(1)
        /// Most origins, and origins for one client, that are watched; beyond it one that was not asked for lately is
        /// forgotten. Default 10000.
        public var maxHosts: Int = 10_000

        /// The defaults.
        public init() {}
    }

    /// How long each class of failure is remembered.
    public struct TTL: Sendable, Hashable, Codable {
        /// The origin said 404 or 410. Default 5m.
        public var notFound: TimeSpan = .minutes(5)
        /// The origin said another 4xx that a retry will not heal. Default 1m.
        public var clientError: TimeSpan = .minutes(1)
        /// Not an image, or none that may be decoded. Default 10m.
        public var notAnImage: TimeSpan = .minutes(10)
        /// Too large, too many pixels, broken, crashed the decoder, took too long. Default 10m.
        public var badImage: TimeSpan = .minutes(10)
        /// TLS failed, or too many redirects. Default 1m.
        public var connection: TimeSpan = .minutes(1)
        /// The origin took the request, and ended the connection or let the time pass. Default 10s.
        public var unanswered: TimeSpan = .seconds(10)

        /// The defaults.
        public init() {}
    }

    /// The defaults.
    public init() {}
}
