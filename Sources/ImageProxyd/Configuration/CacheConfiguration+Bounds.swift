// SPDX-License-Identifier: Apache-2.0

import Cache
import Primitives

extension CacheConfiguration {
    /// Checks the cache's settings.
    func bounds(_ check: inout ConfigurationCheck) {
        check.require(
            "cache.memory.maxBytes", memory.maxBytes, in: .mebibytes(1)...(.gibibytes(1 << 18)),
            orZero: "a tenth of the memory")
        check.require("cache.memory.maxEntries", memory.maxEntries, in: 1...1_000_000_000, orZero: "no bound")
        check.require("cache.memory.maxEntryBytes", memory.maxEntryBytes, in: .kibibytes(1)...(.gibibytes(4)))
        check.require(
            "cache.disk.directory", disk.directory, disk.directory.isEmpty || disk.directory.hasPrefix("/"),
            allowed: "an absolute path, or nothing for the default")
        for path in disk.readOnlyPaths where !path.hasPrefix("/") || path == disk.directory {
            check.refuse(
                "cache.disk.readOnlyPaths", path, allowed: "absolute paths other than cache.disk.directory")
        }
        check.require("cache.disk.maxBytes", disk.maxBytes, in: .mebibytes(1)...(.gibibytes(1 << 18)))
        check.require("cache.disk.maxAge", disk.maxAge, in: .seconds(1)...(.days(36_500)))
        check.require("cache.disk.openFiles", disk.openFiles, in: 0...1_000_000)
        check.require("cache.disk.lowWater", disk.lowWater, in: 0.1...1)
        check.require("cache.disk.sweepInterval", disk.sweepInterval, in: .seconds(1)...(.days(1)))
        memory.limits.bounds(&check)
        disk.limits.bounds(&check)
    }
}

extension MemoryCacheConfiguration.Limits {
    fileprivate func bounds(_ check: inout ConfigurationCheck) {
        let path = "cache.memory.limits"
        check.require("\(path).maxShards", maxShards, in: 1...1_024)
        check.require("\(path).maxEvictionsPerInsert", maxEvictionsPerInsert, in: 1...1_000_000)
        check.require("\(path).scanLimit", scanLimit, in: 1...1_000_000)
        check.require("\(path).maxDeparted", maxDeparted, in: 0...10_000_000)
        check.require("\(path).maxTargets", maxTargets, in: 128...10_000_000)
    }
}

extension DiskCacheConfiguration.Limits {
    fileprivate func bounds(_ check: inout ConfigurationCheck) {
        let (path, many) = ("cache.disk.limits", 1...100_000_000)
        check.require("\(path).readers", readers, in: 1...256)
        check.require("\(path).maxWaitingReads", maxWaitingReads, in: 1...1_000_000)
        check.require("\(path).maxWaitingWrites", maxWaitingWrites, in: 1...1_000_000)
        check.require("\(path).maxWaitingBytes", maxWaitingBytes, in: ByteCount(0)...(.gibibytes(4)))
        check.require("\(path).batchSize", batchSize, in: 1...100_000)
        check.require("\(path).storeDelay", storeDelay, in: .seconds(0)...(.minutes(1)))
        check.require("\(path).maxTouches", maxTouches, in: many)
        check.require("\(path).accessPrecision", accessPrecision, in: .seconds(0)...(.days(365)))
        check.require("\(path).maxSourceRecords", maxSourceRecords, in: many)
        check.require("\(path).maxTagLinks", maxTagLinks, in: many)
        check.require("\(path).maxRecordsInMemory", maxRecordsInMemory, in: 0...10_000_000)
        check.require("\(path).maxVerified", maxVerified, in: many)
        check.require("\(path).maxVerifyNow", maxVerifyNow, in: ByteCount(0)...(.gibibytes(1)))
        check.require("\(path).ballast", ballast, in: ByteCount(0)...(.gibibytes(1)))
        check.require("\(path).maxJournal", maxJournal, in: .kibibytes(64)...(.gibibytes(4)))
    }
}
