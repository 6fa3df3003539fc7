// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// The tiers that each node has for itself. Configuration: `cache`.
package struct CacheConfiguration: SettingGroup {
    package var memory = MemoryCacheConfiguration()
    package var disk = DiskCacheConfiguration()
    package var originals = StorePolicy.disk
    package var results = StorePolicy.all
    package var uploads = false

    /// Which tiers store a kind of entry.
    package enum StorePolicy: String, SettingValue, CaseIterable {
        /// No tier.
        case none
        case memory
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

    package static let settings = SettingTable<Self>(
        "What each node has for itself: memory and disk.", reload: .needsRestart
    ) {
        Setting.group("memory", \.memory)
        Setting.group("disk", \.disk)
        Setting("originals", \.originals, "Which tiers store originals (SDWebImage: originalStoreCacheType).")
        Setting("results", \.results, "Which tiers store results (SDWebImage: storeCacheType).")
        Setting(
            "uploads", \.uploads, reload: .takes,
            """
            Whether what is made of pictures that clients send is stored, under the hash of their content; otherwise
            nothing of them is kept.
            """)
    }
}

/// Bounds of the memory tier. Configuration: `cache.memory`.
package struct MemoryCacheConfiguration: SettingGroup {
    package var maxBytes = ByteCount(0)
    package var maxEntries = 0
    package var maxEntryBytes = ByteCount.mebibytes(4)
    package var limits = Limits()

    /// Bounds of single steps. Configuration: `cache.memory.limits`.
    package struct Limits: SettingGroup {
        var maxShards = 16
        var maxEvictionsPerInsert = 256
        package var scanLimit = 1_024
        package var maxWeakEntries = 4_096
        package var maxTargets = 65_536

        /// Creates the defaults.
        package init() {}

        package static let settings = SettingTable<Self>(
            "Bounds that seldom need a change.", reload: .needsRestart
        ) {
            Setting(
                "maxShards", \.maxShards, in: 1...1_024,
                """
                Most shards, each with a lock of its own; fewer where an eighth of a shard would not hold the largest entry.
                """)
            Setting(
                "maxEvictionsPerInsert", \.maxEvictionsPerInsert, in: 1...1_000_000,
                "Most entries that one insertion evicts; it is refused if that does not free enough.")
            Setting(
                "scanLimit", \.scanLimit, in: 1...1_000_000,
                "Most entries with a second chance that one eviction skips before it takes one all the same.")
            Setting(
                "maxWeakEntries", \.maxWeakEntries, in: 0...10_000_000,
                """
                Most evicted entries that are found again while answers are sent from them, about 100 bytes each; 0 finds
                none (SDWebImage: shouldUseWeakMemoryCache).
                """)
            Setting(
                "maxTargets", \.maxTargets, in: 128...10_000_000,
                """
                Most request targets stored with their answers' heads, about two kibibytes each, and an eighth of that
                number for `/info`; more are parsed anew, as are targets beyond 2KiB. They take at most an eighth of
                `maxBytes`, 16MiB at least.
                """)
        }
    }

    /// Creates the defaults.
    package init() {}

    package static let settings = SettingTable<Self>("The memory tier.", reload: .needsRestart) {
        Setting(
            "maxBytes", \.maxBytes, in: .mebibytes(1)...(.gibibytes(1 << 18)),
            orZero: "a tenth of the memory", reload: .takes,
            """
            Most bytes of bodies and their metadata; 0 means a tenth of the machine's memory, at most 1GiB. All tables
            whose entries clients or origins can lengthen count within it: request targets with their answers' heads, and
            the table of open files (an eighth each at most, 16MiB at least), source records and remembered failures (a
            16th each, 4MiB at least). Bodies have half in any case.
            """)
        Setting(
            "maxEntries", \.maxEntries, in: 1...1_000_000_000, orZero: "no bound",
            "Most entries (SDWebImage: maxMemoryCount).")
        Setting(
            "maxEntryBytes", \.maxEntryBytes, in: .kibibytes(1)...(.gibibytes(4)),
            "A larger body is not stored in memory, nor is one larger than an eighth of a shard.")
        Setting.group("limits", \.limits)
    }
}

/// Folder and bounds of the disk tier. Configuration: `cache.disk`.
package struct DiskCacheConfiguration: SettingGroup {
    package var directory = ""
    package var maxBytes = ByteCount.gibibytes(10)
    package var maxAge = TimeSpan.days(7)
    var expireBy = ExpireBy.access
    var lowWater = 0.9
    package var openFiles = 16_384
    package var readOnlyPaths: [String] = []
    package var sweepInterval = TimeSpan.seconds(60)
    package var limits = Limits()

    /// What age is counted from.
    package enum ExpireBy: String, SettingValue, CaseIterable {
        /// The last time the entry was served.
        case access
        /// The time it was stored.
        case modification
    }

    /// Creates the defaults.
    package init() {}

    package static let settings = SettingTable<Self>("The disk tier.", reload: .needsRestart) {
        Setting(
            "directory", \.directory, allowed: "an absolute path, or nothing for the default",
            """
            The folder; empty means systemd's `CACHE_DIRECTORY`, else `imageproxyd` in the user's cache folder.
            """
        ) { $0.isEmpty || $0.hasPrefix("/") }
        Setting(
            "maxBytes", \.maxBytes, in: .mebibytes(1)...(.gibibytes(1 << 18)), reload: .takes,
            """
            Most bytes of the disk: the blocks of entries, of the index with its journal, and of the folders (SDWebImage:
            maxDiskSize). The index takes at most a quarter; beyond it the source records saved longest ago are removed.
            Entries always have half, so that below some 32MiB the tier may take more.
            """)
        Setting(
            "maxAge", \.maxAge, in: .seconds(1)...(.days(36_500)), reload: .takes,
            "Entries older than this are removed (SDWebImage: maxDiskAge).")
        Setting("expireBy", \.expireBy, "What age is counted from (SDWebImage: diskCacheExpireType).")
        Setting(
            "lowWater", \.lowWater, in: 0.1...1, reload: .takes,
            """
            A sweep that finds the tier over `maxBytes` removes the oldest entries down to this share of it.
            """)
        Setting(
            "openFiles", \.openFiles, in: 0...1_000_000,
            """
            Files of entries that memory does not hold and that are kept open, so that a hit opens nothing. If there are
            too few descriptors, fewer files are kept open: clients have precedence (two each), and 1024, or a quarter of a
            small number, are left to others.
            """)
        Setting(
            "readOnlyPaths", \.readOnlyPaths, each: "an absolute path other than cache.disk.directory",
            """
            Folders with earlier entries, in the layout of `directory`, that are read when no tier has a picture
            (SDWebImage: additionalCachePathBlock). Their entries are always fresh, are never changed, and are not reached
            by a purge.
            """
        ) { $0.filter { !$0.hasPrefix("/") } }
        Setting(
            "sweepInterval", \.sweepInterval, in: .seconds(1)...(.days(1)), reload: .takes,
            "Time between sweeps.")
        Setting.group("limits", \.limits)
    }
}

extension DiskCacheConfiguration {
    /// Bounds of queues, tables and single steps. Configuration: `cache.disk.limits`.
    package struct Limits: SettingGroup {
        package var readers = 4
        var maxWaitingReads = 512
        var maxWaitingWrites = 1_024
        var maxWaitingBytes = ByteCount.mebibytes(32)
        var batchSize = 128
        var storeDelay = TimeSpan.milliseconds(20)
        var maxAccessTimes = 65_536
        var accessPrecision = TimeSpan.minutes(10)
        var maxSourceRecords = 1_000_000
        var maxTagLinks = 1_000_000
        var maxRecordsInMemory = 10_000
        var maxVerified = 131_072
        var maxVerifyNow = ByteCount.kibibytes(64)
        var maxJournal = ByteCount.mebibytes(16)

        /// Creates the defaults.
        package init() {}

        package static let settings = SettingTable<Self>(
            "Bounds that seldom need a change.", reload: .needsRestart
        ) {
            Setting(
                "readers", \.readers, in: 1...256,
                "Threads that read files, and write headers of new ones, at once.")
            Setting(
                "maxWaitingReads", \.maxWaitingReads, in: 1...1_000_000,
                "Most look-ups that wait for such a thread; one more is answered with 503.")
            Setting(
                "maxWaitingWrites", \.maxWaitingWrites, in: 1...1_000_000,
                "Most changes that wait for the index; one more is not stored, and counted.")
            Setting(
                "maxWaitingBytes", \.maxWaitingBytes, in: .zero...(.gibibytes(4)),
                """
                Most bytes of small originals that wait in memory for their files; one more is not stored, and counted.
                """)
            Setting(
                "batchSize", \.batchSize, in: 1...100_000,
                "Most changes in one transaction, and entries in one step of a sweep.")
            Setting(
                "storeDelay", \.storeDelay, in: .zero...(.minutes(1)),
                """
                How long a small original stays in memory alone, where it is found, so that many are written in one batch.
                With 0 every answer waits for the file.
                """)
            Setting(
                "maxAccessTimes", \.maxAccessTimes, in: 1...100_000_000,
                "Most entries whose access time waits for the next sweep, which writes it; more are dropped.")
            Setting(
                "accessPrecision", \.accessPrecision, in: .zero...(.days(365)),
                "An access time is written only if the one on disk is older than this.")
            Setting(
                "maxSourceRecords", \.maxSourceRecords, in: 1...100_000_000,
                """
                Most source records on disk; beyond it those saved longest ago are removed, as when the index takes more
                than a quarter of `cache.disk.maxBytes`.
                """)
            Setting(
                "maxTagLinks", \.maxTagLinks, in: 1...100_000_000,
                """
                Most links of a tag to a result on disk, and at most one for 4KiB of `cache.disk.maxBytes`. Beyond it those
                seen longest ago are removed together with their results.
                """)
            Setting(
                "maxRecordsInMemory", \.maxRecordsInMemory, in: 0...10_000_000,
                """
                Most source records also kept in memory, where they take at most a 16th of `cache.memory.maxBytes`, 4MiB
                at least.
                """)
            Setting(
                "maxVerified", \.maxVerified, in: 1...100_000_000,
                "Files recorded as having passed their checksum, 8 bytes each; others are checked again.")
            Setting(
                "maxVerifyNow", \.maxVerifyNow, in: .zero...(.gibibytes(1)),
                "A larger body is not checked on the caller's thread but by one of the `readers`.")
            Setting(
                "maxJournal", \.maxJournal, in: .kibibytes(64)...(.gibibytes(4)),
                """
                Most bytes that the index's journal keeps between checkpoints; at most a 16th of `cache.disk.maxBytes`.
                """)
        }
    }
}
