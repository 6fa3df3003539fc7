// SPDX-License-Identifier: Apache-2.0

import CLinux

extension WorkerPool {
    /// What the pool is doing, and what has happened to its workers.
    public struct Statistics: Sendable, Equatable {
        /// Workers that wait for a job.
        public var idle = 0
        /// Workers that have a job.
        public var busy = 0
        /// Workers that are being started, or could not be.
        public var starting = 0
        /// Jobs that wait for a worker.
        public var queueDepth = 0
        /// Jobs that no client waits for: one that waits until workers have nothing else to do, or runs.
        public var background = 0
        /// Bytes that the pixels of running jobs may take, by estimate.
        public var memoryInUse = 0
        /// Workers that were replaced, by reason.
        public var restarts: [RestartReason: Int] = [:]
        /// The numbers of the workers' processes that run.
        public var processIdentifiers: [Int32] = []

        /// Nothing yet.
        public init() {}
    }

    /// Why a worker was replaced.
    public enum RestartReason: String, Sendable, CaseIterable {
        /// It died, or talked nonsense.
        case crash
        /// Its job passed the deadline.
        case timeout
        /// It ran out of memory.
        case memory
        /// It had done as many jobs as one worker may.
        case recycled
        /// Its job was no longer wanted.
        case cancelled
        /// It did not start.
        case start
    }

    /// The number of processors that the process may run on, at least 1.
    static var coreCount: Int { Int(linux_usable_processors()) }
}
