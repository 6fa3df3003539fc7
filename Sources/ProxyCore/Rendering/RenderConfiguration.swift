// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// How renderings are run. Configuration: `transform`.
package struct TransformConfiguration: Sendable, Hashable, Codable {
    /// Worker processes; 0 (the default) means one per core.
    package var workers: Int = 0
    /// Jobs that may wait; 0 (the default) means 1,024, or 32 × workers where that is more. Each holds at
    /// most 64 KiB of memory for its source, and two open files. Beyond it 503 `queue_full`.
    package var queue: Int = 0
    /// Longest wait for a worker. Default 1m: a page of 200 pictures takes less, also on two busy cores;
    /// beyond it 503 `queue_timeout`.
    package var queueTimeout: TimeSpan = .minutes(1)
    /// Wait for a worker after which the automatic choice of format takes the one with the least work, of
    /// those that the client accepts. Such a result is replaced when workers have time, or remade after ten
    /// minutes. Default 3s; 0 is never.
    package var cheapestAfter: TimeSpan = .seconds(3)
    /// Longest run of one job; beyond it the worker is killed and the answer is 422 `transform_timeout`. Default 15s.
    package var timeout: TimeSpan = .seconds(15)
    /// Memory of one worker, as estimated for its job; its address space, of which decoders reserve more than they use, is
    /// limited to twice that. Default 1GiB; 0B means no limit.
    package var memoryPerWorker: ByteCount = .gibibytes(1)
    /// Memory for the pixels of all jobs at once, as estimated from their headers; what does not fit waits. 0B (the
    /// default) means workers × `memoryPerWorker`. A job that needs more than `memoryPerWorker` is 422 `too_many_pixels`.
    package var memoryBudget: ByteCount = ByteCount(0)
    /// Address space for reading a source's header, beyond what the worker has. Default 192MiB; beyond it 422
    /// `too_many_pixels` or `bad_image_data`.
    package var headerMemory: ByteCount = .mebibytes(192)
    /// Processor time for reading a source's header. Default 500ms; beyond it 422 `transform_timeout`.
    package var headerTime: TimeSpan = .milliseconds(500)
    /// Jobs after which a worker is replaced, so that fragmentation cannot grow. Default 1000.
    package var jobsPerWorker: Int = 1_000
    /// Scheduling niceness of workers, 0–19, so that hits never wait behind pixels. Default 10.
    package var niceness: Int = 10
    /// Where pixels are computed. Default `process`.
    package var isolation: Isolation = .process
    /// Whether workers need every part of the sandbox, or only those that the kernel supports. Default
    /// `required`.
    package var sandbox: Sandbox = .required

    /// Whether `resize` averages linear light and not encoded levels: fine bright detail stays as bright, for
    /// up to ten times the processor time, and without intermediates. Default false.
    package var linearLight = false

    /// Smaller versions of large originals.
    package var intermediates = IntermediateConfiguration()

    /// Better results in place of those that were made quickly.
    package var improve = ImproveConfiguration()

    /// Where pixels are computed.
    package enum Isolation: String, Sendable, Hashable, Codable, CaseIterable {
        /// In spawned worker processes.
        case process
        /// In the daemon itself: for comparison only, since a hostile picture can then end the daemon.
        case none
    }

    /// What to do on a kernel that lacks a part of the sandbox.
    package enum Sandbox: String, Sendable, Hashable, Codable, CaseIterable {
        /// Do not start.
        case required
        /// Start without that part, and log it.
        case bestEffort
    }

    /// Creates the defaults.
    package init() {}
}

/// Smaller versions of large originals, which make further sizes cheap. Configuration:
/// `transform.intermediates`.
package struct IntermediateConfiguration: Sendable, Hashable, Codable {
    /// Whether intermediates are made and used: a smaller copy of a large original, made with its second size in the same
    /// decoding, from which later sizes up to half its own are made, unless the result is to be lossless. Default true.
    package var enabled: Bool = true
    /// The longest side of an intermediate, in pixels. Default 1600: 800, 400 and 200 are even fractions of it, to which a
    /// decoder of JPEG or WebP shrinks by itself.
    package var side: Int = 1_600
    /// The minimum number of pixels of an original that gets an intermediate. Default 4,000,000.
    package var minPixels: Int = 4_000_000
    /// The encoder quality of an intermediate, 1–100. Default 88.
    package var quality: Int = 88
    /// The maximum number of originals whose first size is remembered; beyond it the oldest is removed. Default 4096, about
    /// 100 bytes each.
    package var originals: Int = 4_096

    /// Creates the defaults.
    package init() {}
}

/// Results in AVIF and JPEG XL are made with the fast effort, and once more with full effort when they are
/// requested again and workers have nothing else to do. Configuration: `transform.improve`.
package struct ImproveConfiguration: Sendable, Hashable, Codable {
    /// Whether results in AVIF and JPEG XL, which are made with the fast effort first, are made again with the full effort
    /// when they are requested again and workers are idle. Default true.
    package var enabled: Bool = true
    /// The maximum number of results that wait to be made again, with at most 4 MiB of URLs and plans altogether; clients
    /// take turns, and one with many gives places up to others. Default 256; beyond it a result waits for its next request.
    package var queue: Int = 256
    /// The maximum `max-age` of a result that will be made again, counted from when it was made. Default 60s.
    package var maxAge: TimeSpan = .seconds(60)

    /// Creates the defaults.
    package init() {}
}
