// SPDX-License-Identifier: Apache-2.0

extension WorkerPool {
    /// The state of the pool, and the number of replaced workers.
    package struct Statistics: Sendable, Equatable {
        /// Workers that wait for a job.
        package var idle = 0
        /// Workers that have a job.
        package var busy = 0
        /// Workers that are being started, or could not be.
        package var starting = 0
        /// Jobs that wait for a worker.
        package var queueDepth = 0
        /// The maximum of `queueDepth`.
        package var maxQueueDepth = 0
        /// Jobs that no client waits for: one that waits until workers have nothing else to do, or runs.
        package var background = 0
        /// The estimated memory of the running jobs' pixels, in bytes.
        package var memoryInUse = 0
        /// The maximum of `memoryInUse`, but for a job that needs more alone; `Int.max` without a bound.
        package var maxMemory = Int.max
        /// Workers that were replaced, by reason.
        package var restarts: [RestartReason: Int] = [:]
        /// The process ids of the running workers.
        package var processIdentifiers: [Int32] = []

        /// Creates empty statistics.
        package init() {}
    }

    /// Why a worker was replaced.
    package enum RestartReason: String, Sendable, CaseIterable {
        /// It crashed, or broke the protocol.
        case crash
        /// Its job passed the deadline, or took longer than it may beside another one of much work.
        case timeout
        /// It ran out of memory.
        case memory
        /// It had run its maximum number of jobs.
        case recycled
        /// Its job was cancelled.
        case cancelled
        /// It did not start.
        case start
    }
}
