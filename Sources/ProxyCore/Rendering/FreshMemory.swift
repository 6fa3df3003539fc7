// SPDX-License-Identifier: Apache-2.0

import CLinux
import Imaging
import Synchronization

/// Clears memory when it is allocated: a worker's may contain another client's picture.
enum FreshMemory {
    /// Zeroes allocations while `body` decodes a format that may leave them unwritten; those below 1 KiB may keep
    /// old bytes.
    static func isCleared<Value: ~Copyable, Failure: Error>(
        for format: ImageFormat, while body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard format.traits.leavesMemoryUnwritten else { return try body() }
        count(1)
        defer { count(-1) }
        return try body()
    }

    /// How many jobs of this process need it; a worker has one.
    private static let jobs = Mutex(0)

    private static func count(_ change: Int) {
        jobs.withLock { jobs in
            jobs += change
            linux_clear_fresh_memory(jobs > 0 ? 1 : 0)
        }
    }
}
