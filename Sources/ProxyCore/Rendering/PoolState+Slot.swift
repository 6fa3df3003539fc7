// SPDX-License-Identifier: Apache-2.0

extension PoolState {
    /// The state of one worker.
    struct Slot {
        /// Wakes its thread; nil until the thread is created.
        var alert: Alert?
        var phase = Phase.down
        var pid: Int32?
        /// Whether its thread runs.
        var hasThread = false
        /// The job that its last worker was killed for, until the next one has started.
        var lastJob: Int?
        /// How often in a row its worker has failed to start.
        var failedStarts = 0

        /// The phases of a worker.
        enum Phase {
            /// There is no process, or none that is ready.
            case down
            /// It waits for a job.
            case idle
            /// It has been woken for a waiting job.
            case waking
            /// It has a job.
            case busy
        }
    }
}
