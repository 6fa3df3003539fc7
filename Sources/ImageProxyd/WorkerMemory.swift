// SPDX-License-Identifier: Apache-2.0

import Observability
import Primitives
import Synchronization

/// The memory of all workers together, read at most once a second: the kernel walks each process's tables for
/// it, and `/metrics` may be requested at any rate.
final class WorkerMemory: Sendable {
    private struct Reading {
        var second: Int64
        var bytes: Int
    }

    private let last = Mutex<Reading?>(nil)

    /// Bytes, in this second of a clock or the one of the last reading; further callers wait meanwhile.
    /// - Parameter read: the bytes of one process; nil if there is no such process any more.
    func bytes(
        of processes: [Int32], at second: Int64, read: (Int32) -> Int? = ProcessMemory.bytes(of:)
    ) -> Int {
        last.withLock { last in
            if let last, last.second == second { return last.bytes }
            let bytes = processes.reduce(0) { $0 + (read($1) ?? 0) }
            last = Reading(second: second, bytes: bytes)
            return bytes
        }
    }
}
