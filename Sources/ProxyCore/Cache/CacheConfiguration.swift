// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// The two tiers. Configuration: `cache`.
package struct CacheConfiguration: Sendable, Hashable, Codable {
    /// The memory tier.
    package var memory = MemoryCacheConfiguration()
    /// The disk tier.
    package var disk = DiskCacheConfiguration()
    /// Which tiers store originals (SDWebImage: originalStoreCacheType). Default `disk`.
    package var originals: StorePolicy = .disk
    /// Which tiers store results (SDWebImage: storeCacheType). Default `all`.
    package var results: StorePolicy = .all
    /// Whether what is made of pictures that clients send is stored, under the hash of their content. Default
    /// false: nothing of them is kept.
    package var uploads = false

    /// Which tiers store a kind of entry.
    package enum StorePolicy: String, Sendable, Hashable, Codable, CaseIterable {
        /// No tier.
        case none
        /// Memory only.
        case memory
        /// Disk only.
        case disk
        /// Memory and disk.
        case all

        /// Whether the memory tier stores it.
        package var usesMemory: Bool { self == .memory || self == .all }
        /// Whether the disk tier stores it.
        package var usesDisk: Bool { self == .disk || self == .all }
    }

    /// Creates the defaults.
    package init() {}
}

/// Bounds of the memory tier. Configuration: `cache.memory`.
package struct MemoryCacheConfiguration: Sendable, Hashable, Codable {
    /// Most bytes of bodies and their metadata; 0B (the default) means a tenth of the machine's memory, at
    /// most 1GiB.
    ///
    /// All tables whose entries clients or origins can lengthen count within it: request targets with their
    /// answers' heads, and the table of open files (an eighth each at most, 16MiB at least), source records
    /// and remembered failures (a 16th each, 4MiB at least). Bodies have half in any case.
    package var maxBytes: ByteCount = ByteCount(0)
    /// Most entries; 0 (the default) means no bound but bytes (SDWebImage: maxMemoryCount).
    package var maxEntries: Int = 0
    /// A larger body is not stored in memory. Default 4MiB, and never more than an eighth of a shard.
    package var maxEntryBytes: ByteCount = .mebibytes(4)
    /// Bounds that seldom need a change.
    package var limits = Limits()

    /// Bounds of single steps. Configuration: `cache.memory.limits`.
    package struct Limits: Sendable, Hashable, Codable {
        /// Most shards, each with a lock of its own; fewer where an eighth of a shard would not hold the largest entry.
        ///
        /// Default 16.
        package var maxShards: Int = 16
        /// Most entries that one insertion evicts; it is refused if that does not free enough.
        ///
        /// Default 256.
        package var maxEvictionsPerInsert: Int = 256
        /// Most entries with a second chance that one eviction skips before it takes one all the same.
        ///
        /// Default 1024.
        package var scanLimit: Int = 1_024
        /// Most evicted entries that are found again while answers are sent from them, about 100 bytes each.
        ///
        /// Default 4096; 0 finds none (SDWebImage: shouldUseWeakMemoryCache).
        package var maxDeparted: Int = 4_096
        /// Most request targets stored with their answers' heads, about two kibibytes each; more are parsed
        /// anew, as are targets beyond 2KiB.
        ///
        /// Default 65536; an eighth of it for `/info`. They take at most an eighth of `maxBytes`, 16MiB at
        /// least.
        package var maxTargets: Int = 65_536

        /// Creates the defaults.
        package init() {}
    }

    /// Creates the defaults.
    package init() {}
}

/// Folder and bounds of the disk tier. Configuration: `cache.disk`.
package struct DiskCacheConfiguration: Sendable, Hashable, Codable {
    /// The folder; empty (the default) means systemd's `CACHE_DIRECTORY`, else `imageproxyd` in the user's cache folder.
    package var directory: String = ""
    /// Most bytes of the disk: the blocks of entries, of the index with its journal, and of the folders.
    /// Default 10GiB (SDWebImage: maxDiskSize).
    ///
    /// The index takes at most a quarter; beyond it the source records saved longest ago are removed. Entries
    /// always have half, so that below some 32MiB the tier may take more.
    package var maxBytes: ByteCount = .gibibytes(10)
    /// Entries older than this are removed. Default 7d (SDWebImage: maxDiskAge).
    package var maxAge: TimeSpan = .days(7)
    /// What age is counted from. Default `access` (SDWebImage: diskCacheExpireType).
    package var expireBy: ExpireBy = .access
    /// A sweep that finds the tier over `maxBytes` removes the oldest entries down to this share of it. Default 0.9.
    package var lowWater: Double = 0.9
    /// Files of entries that memory does not hold and that are kept open, so that a hit opens nothing.
    ///
    /// Default 16384, range 0–1000000. If there are too few descriptors, fewer files are kept open: clients
    /// have precedence (two each), and 1024, or a quarter of a small number, are left to others.
    package var openFiles: Int = 16_384
    /// Folders with earlier entries, in the layout of `directory`, that are read when no tier has a picture.
    ///
    /// Their entries are always fresh, are never changed, and are not reached by a purge. Default none
    /// (SDWebImage: additionalCachePathBlock).
    package var readOnlyPaths: [String] = []
    /// Time between sweeps. Default 60s.
    package var sweepInterval: TimeSpan = .seconds(60)
    /// Bounds that seldom need a change.
    package var limits = Limits()

    /// Bounds of queues, tables and single steps. Configuration: `cache.disk.limits`.
    package struct Limits: Sendable, Hashable, Codable {
        /// Threads that read files at once. Default 4.
        package var readers: Int = 4
        /// Most look-ups that wait for such a thread; one more is answered with 503. Default 512.
        package var maxWaitingReads: Int = 512
        /// Most changes that wait for the index; one more is not stored, and counted. Default 1024.
        package var maxWaitingWrites: Int = 1_024
        /// Most bytes of small originals that wait in memory for their files; one more is not stored, and counted.
        ///
        /// Default 32MiB.
        package var maxWaitingBytes: ByteCount = .mebibytes(32)
        /// Most changes in one transaction, and entries in one step of a sweep. Default 128.
        package var batchSize: Int = 128
        /// How long a small original stays in memory alone, so that many are written in one batch.
        ///
        /// It is found there meanwhile. With 0 every answer waits for the file. Default 20ms.
        package var storeDelay: TimeSpan = .milliseconds(20)
        /// Most entries whose access time waits to be written; more are dropped, and counted. Default 65536.
        package var maxTouches: Int = 65_536
        /// An access time is written only if the one on disk is older than this. Default 10m.
        package var accessPrecision: TimeSpan = .minutes(10)
        /// Most source records on disk; beyond it those saved longest ago are removed, as when the index
        /// takes more than a quarter of `cache.disk.maxBytes`. Default 1000000.
        package var maxSourceRecords: Int = 1_000_000
        /// Most links of a tag to a result on disk, and at most one for 4KiB of `cache.disk.maxBytes`. Beyond
        /// it those seen longest ago are removed together with their results. Default 1000000.
        package var maxTagLinks: Int = 1_000_000
        /// Most source records also kept in memory, where they take at most a 16th of `cache.memory.maxBytes`, 4MiB
        /// at least. Default 10000.
        package var maxRecordsInMemory: Int = 10_000
        /// Files recorded as having passed their checksum, 8 bytes each; others are checked again. Default
        /// 131072.
        package var maxVerified: Int = 131_072
        /// A larger body is not checked on the caller's thread but by the readers. Default 64KiB.
        package var maxVerifyNow: ByteCount = .kibibytes(64)
        /// Disk space in reserve, so that entries can be deleted when the disk is full; at most a 16th of
        /// `cache.disk.maxBytes`, of which it is a part. Default 4MiB.
        package var ballast: ByteCount = .mebibytes(4)
        /// Most bytes that the index's journal keeps between checkpoints; at most a 16th of `cache.disk.maxBytes`. Default 16MiB.
        package var maxJournal: ByteCount = .mebibytes(16)

        /// Creates the defaults.
        package init() {}
    }

    /// What age is counted from.
    package enum ExpireBy: String, Sendable, Hashable, Codable, CaseIterable {
        /// The last time the entry was served.
        case access
        /// The time it was stored.
        case modification
    }

    /// Creates the defaults.
    package init() {}
}

/// The blacklist of failed URLs (SDWebImage: failedURLs). Configuration: `failedURLs`.
package struct FailedURLsConfiguration: Sendable, Hashable, Codable {
    /// Most remembered failures, which take at most a 16th of `cache.memory.maxBytes`, 4MiB at least; beyond
    /// it the one that ends soonest is removed. Default 10000.
    package var maxEntries: Int = 10_000
    /// How long each class is remembered.
    package var ttl = TTL()
    /// The share of its time by which a failure's time is shortened at random, so that many are not retried
    /// at once.
    ///
    /// Default 0.1.
    package var jitter: Double = 0.1
    /// The longest `Retry-After` of an origin that is obeyed: a URL that it refuses is not requested for so
    /// long.
    ///
    /// Default 1m; 0 obeys none. `fetch.maxRetryAfter`, which says how much of it is passed on, bounds this,
    /// too.
    package var maxRetryAfter: TimeSpan = .minutes(1)
    /// When origins that can't be connected to get no requests.
    package var breaker = Breaker()

    /// When an origin (scheme, host and port) gets no requests for a while. Configuration:
    /// `failedURLs.breaker`.
    package struct Breaker: Sendable, Hashable, Codable {
        /// Consecutive failures to connect (DNS, connection, TLS, `fetch.connectTimeout`), each at most
        /// `maximum` after the one before. Failures after the request was sent do not count. As many
        /// consecutive answers of 429 to one client stop requests to the origin for that client.
        ///
        /// Default 5; then fetches are refused with 503 `host_unavailable`.
        package var failures: Int = 5
        /// How long the origin then gets no requests; doubled each time that a probe fails. Default 2s.
        package var pause: TimeSpan = .seconds(2)
        /// The longest such time, also if an origin's `Retry-After` demands more. Default 1m.
        package var maximum: TimeSpan = .minutes(1)
        /// Most origins, and origins for one client, that are watched; beyond it one without recent requests
        /// is dropped. Default 10000.
        package var maxHosts: Int = 10_000

        /// Creates the defaults.
        package init() {}
    }

    /// How long each class of failure is remembered.
    package struct TTL: Sendable, Hashable, Codable {
        /// The origin answered 404 or 410. Default 5m.
        package var notFound: TimeSpan = .minutes(5)
        /// The origin answered another 4xx that a retry will not heal. Default 1m.
        package var clientError: TimeSpan = .minutes(1)
        /// Not an image, or none that may be decoded. Default 10m.
        package var notAnImage: TimeSpan = .minutes(10)
        /// Too large, too many pixels, damaged, crashed the decoder, took too long. Default 10m.
        package var badImage: TimeSpan = .minutes(10)
        /// TLS failed, or too many redirects. Default 1m.
        package var connection: TimeSpan = .minutes(1)
        /// The origin accepted the request, and closed the connection or exceeded the timeout. Default 10s.
        package var unanswered: TimeSpan = .seconds(10)

        /// Creates the defaults.
        package init() {}
    }

    /// Creates the defaults.
    package init() {}
}
