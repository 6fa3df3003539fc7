// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// How renderings are run. Configuration: `transform`.
package struct TransformConfiguration: SettingGroup {
    package var workers = 0
    package var queue = 0
    package var queueTimeout = TimeSpan.minutes(1)
    package var cheapestAfter = TimeSpan.seconds(3)
    package var timeout = TimeSpan.seconds(15)
    package var memoryPerWorker = ByteCount.gibibytes(1)
    package var memoryBudget = ByteCount(0)
    package var headerMemory = ByteCount.mebibytes(192)
    package var headerTime = TimeSpan.milliseconds(500)
    package var jobsPerWorker = 1_000
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
            """
            Processor time for reading a source's header; beyond it 422 `transform_timeout`.
            """)
        Setting(
            "jobsPerWorker", \.jobsPerWorker, in: 1...1_000_000_000,
            """
            Jobs after which a worker is replaced, so that fragmentation cannot grow.
            """)
        Setting(
            "niceness", \.niceness, in: 0...19, reload: .needsRestart,
            "Scheduling niceness of workers, so that hits never wait behind pixels.")
        Setting(
            "isolation", \.isolation, reload: .needsRestart,
            """
            Where pixels are computed; `none`, in the daemon itself, is for comparison only.
            """)
        Setting(
            "sandbox", \.sandbox, reload: .needsRestart,
            """
            Whether workers need every part of the sandbox, or only those that the kernel supports.
            """)
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

/// Smaller versions of large originals, which make further sizes cheap. Configuration:
/// `transform.intermediates`.
package struct IntermediateConfiguration: SettingGroup {
    package var enabled = true
    package var side = 1_600
    package var minPixels = 4_000_000
    package var quality = 88
    package var originals = 4_096

    /// Creates the defaults.
    package init() {}

    package static let settings = SettingTable<Self>("Smaller versions of large originals.", reload: .takes) {
        Setting(
            "enabled", \.enabled,
            """
            Whether intermediates are made and used: a smaller copy of a large original, made with its second size in the
            same decoding, from which later sizes up to half its own are made, unless the result is to be lossless.
            """)
        Setting(
            "side", \.side, in: 64...65_536,
            """
            The longest side of an intermediate, in pixels: 800, 400 and 200 are even fractions of 1600, to which a decoder
            of JPEG or WebP shrinks by itself.
            """)
        Setting(
            "minPixels", \.minPixels, in: 0...10_000_000_000,
            """
            The minimum number of pixels of an original that gets an intermediate.
            """)
        Setting("quality", \.quality, in: 1...100, "The encoder quality of an intermediate.")
        Setting(
            "originals", \.originals, in: 1...10_000_000,
            """
            The maximum number of originals whose first size is remembered, about 100 bytes each; beyond it the oldest is
            removed.
            """)
    }
}

/// Results in AVIF and JPEG XL are made with the fast effort, and once more with full effort when they are
/// requested again and workers have nothing else to do. Configuration: `transform.improve`.
package struct ImproveConfiguration: SettingGroup {
    package var enabled = true
    package var queue = 256
    package var maxAge = TimeSpan.seconds(60)

    /// Creates the defaults.
    package init() {}

    package static let settings = SettingTable<Self>(
        "Better results in place of those that were made quickly.", reload: .takes
    ) {
        Setting(
            "enabled", \.enabled,
            """
            Whether results in AVIF and JPEG XL, which are made with the fast effort first, are made again with the full
            effort when they are requested again and workers are idle.
            """)
        Setting(
            "queue", \.queue, in: 1...100_000,
            """
            The maximum number of results that wait to be made again, with at most 4 MiB of URLs and plans altogether;
            clients take turns, and one with many gives places up to others. Beyond it a result waits for its next request.
            """)
        Setting(
            "maxAge", \.maxAge, in: .zero...(.days(1)),
            """
            The maximum `max-age` of a result that will be made again, counted from when it was made.
            """)
    }
}
