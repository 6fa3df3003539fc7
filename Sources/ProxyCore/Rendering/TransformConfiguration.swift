// SPDX-License-Identifier: Apache-2.0

import CLinux
package import Primitives

/// How renderings are run. Configuration: `transform`.
package struct TransformConfiguration: SettingGroup {
    package var workers = 0
    package var queue = 0
    package var queueTimeout = TimeSpan.minutes(1)
    var cheapestAfter = TimeSpan.seconds(3)
    package var timeout = TimeSpan.seconds(15)
    package var memoryPerWorker = ByteCount.gibibytes(1)
    package var memoryBudget = ByteCount(0)
    package var headerMemory = ByteCount.mebibytes(192)
    var headerTime = TimeSpan.milliseconds(500)
    var jobsPerWorker = 1_000
    package var niceness = 10
    package var isolation = Isolation.process
    package var sandbox = Sandbox.required
    package var linearLight = false
    package var intermediates = IntermediateConfiguration()
    package var improve = ImproveConfiguration()

    /// Where pixels are computed.
    package enum Isolation: String, SettingValue, CaseIterable {
        /// In spawned worker processes.
        case process
        /// In the daemon itself: for comparison only, since a hostile picture can then end the daemon.
        case none
    }

    /// What to do on a kernel that lacks a part of the sandbox.
    package enum Sandbox: String, SettingValue, CaseIterable, Codable {
        /// Do not start.
        case required
        /// Start without that part, and log it.
        case bestEffort
    }

    /// Creates the defaults.
    package init() {}

    /// The number of workers.
    package var workerCount: Int { workers > 0 ? workers : Int(linux_usable_processors()) }

    /// The maximum of waiting jobs for a number of workers. Each holds at most 64 KiB of a source in memory, the rest is in files.
    func depth(workers: Int) -> Int { queue > 0 ? queue : max(1_024, 32 * workers) }

    package static let settings = SettingTable<Self>("How renderings are run.", reload: .takesWithWorkers) {
        Setting(
            "workers", \.workers, in: 1...1_024, orZero: "one per core", reload: .needsRestart,
            "Worker processes.")
        Setting(
            "queue", \.queue, in: 1...1_000_000, orZero: "1024, or 32 × workers where that is more",
            """
            Jobs that may wait. Each holds at most 64 KiB of memory for its source, and two open files. Beyond it 503
            `queue_full`.
            """)
        Setting(
            "queueTimeout", \.queueTimeout, in: .milliseconds(1)...(.hours(1)),
            """
            Longest wait for a worker, in which a page of 200 pictures is made, also on two busy cores; beyond it 503
            `queue_timeout`.
            """)
        Setting(
            "cheapestAfter", \.cheapestAfter, in: .zero...(.hours(1)),
            """
            Wait for a worker after which the automatic choice of format takes the one with the least work, of those that
            the client accepts; 0 is never. Such a result is replaced when workers have time, or remade after ten minutes.
            """)
        Setting(
            "timeout", \.timeout, in: .milliseconds(1)...(.hours(1)),
            """
            Longest run of one job; beyond it the worker is killed and the answer is 422 `transform_timeout`.
            """)
        Setting(
            "memoryPerWorker", \.memoryPerWorker, in: .mebibytes(64)...(.gibibytes(1 << 18)),
            orZero: "no limit", reload: .needsRestart,
            """
            Memory of one worker, as estimated for its job; its address space, of which decoders reserve more than they
            use, is limited to twice that.
            """)
        Setting(
            "memoryBudget", \.memoryBudget, in: .mebibytes(64)...(.gibibytes(1 << 18)),
            orZero: "workers × memoryPerWorker", reload: .needsRestart,
            """
            Memory for the pixels of all jobs at once, as estimated from their headers; what does not fit waits. A job that
            needs more than `memoryPerWorker` is 422 `too_many_pixels`.
            """)
        Setting(
            "headerMemory", \.headerMemory, in: .mebibytes(16)...(.gibibytes(16)),
            """
            Address space for reading a source's header, beyond what the worker has; beyond it 422 `too_many_pixels` or
            `bad_image_data`.
            """)
        Setting(
            "headerTime", \.headerTime, in: .milliseconds(10)...(.minutes(1)),
            "Processor time for reading a source's header; beyond it 422 `transform_timeout`.")
        Setting(
            "jobsPerWorker", \.jobsPerWorker, in: 1...1_000_000_000,
            "Jobs after which a worker is replaced, so that fragmentation cannot grow.")
        Setting(
            "niceness", \.niceness, in: 0...19, reload: .needsRestart,
            "Scheduling niceness of workers, so that hits never wait behind pixels.")
        Setting(
            "isolation", \.isolation, reload: .needsRestart,
            "Where pixels are computed; `none`, in the daemon itself, is for comparison only.")
        Setting(
            "sandbox", \.sandbox, reload: .needsRestart,
            "Whether workers need every part of the sandbox, or only those that the kernel supports.")
        Setting(
            "linearLight", \.linearLight, reload: .takes,
            """
            Whether `resize` averages linear light and not encoded levels: fine bright detail stays as bright, for up to ten
            times the processor time, and without intermediates.
            """)
        Setting.group("intermediates", \.intermediates)
        Setting.group("improve", \.improve)
    }
}
