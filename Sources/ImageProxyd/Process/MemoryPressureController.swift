// SPDX-License-Identifier: Apache-2.0

import CLinux
import Cache
internal import Dispatch
internal import Logging
import Observability
import Primitives
internal import Synchronization

/// Shrinks the memory tier while the machine is short of memory, and lets it grow again afterwards.
final class MemoryPressureController: Sendable {
    private let memory: MemoryCache
    private let relief: Mutex<PressureRelief>
    private let logger: Logger
    private let queue = DispatchQueue(label: "memory relief")
    /// The least that has been resident and not in use since the heap was trimmed, in bytes: no trim returns that.
    private let leastUnused = Mutex(0)

    init(memory: MemoryCache, logger: Logger) {
        self.memory = memory
        self.logger = logger
        relief = Mutex(PressureRelief(full: memory.statistics.maxBytes))
        scheduleTrim()
    }

    /// Returns free memory to the kernel now and then, if there is much of it: the heap keeps what lies between blocks in use,
    /// such as that of thousands of requests that waited at once.
    private func scheduleTrim() {
        queue.asyncAfter(deadline: .now() + Self.trimInterval) { [weak self] in
            guard let self else { return }
            leastUnused.withLock { Self.trim(&$0) }
            scheduleTrim()
        }
    }

    private static let trimInterval = DispatchTimeInterval.seconds(30)
    /// The least memory that is worth a walk over all heaps, in bytes.
    private static let mostUnused = 64 << 20

    /// Returns free memory if `mostUnused` more than the least since the last time is resident and not in use.
    static func trim(_ least: inout Int) {
        guard let unused = unusedBytes else { return }
        least = min(least, unused)
        guard unused - least > mostUnused else { return }
        linux_trim_heap()
        least = unusedBytes ?? unused
    }

    private static var unusedBytes: Int? { ProcessMemory.unshared().map { $0 - Int(linux_heap_in_use()) } }

    /// Changes the tier's maximum of bytes: at once, or once memory is no longer short.
    func adopt(_ configuration: MemoryCacheConfiguration) {
        let full = MemoryCache.size(of: configuration)
        memory.resize(maxBytes: ByteCount(relief.withLock { $0.resize(full: full) }))
    }

    /// Starts to watch; nil if the system offers no file to watch, or none that may be read.
    func watch(environment: [String: String]) -> PressureWatch? {
        // Ignored: why it can't be read; the whole machine is watched then.
        let groups = (try? HostProcess.contents(of: "/proc/self/cgroup")) ?? []
        let candidates = PressureSource.candidates(
            environment: environment, controlGroups: String(decoding: groups, as: UTF8.self))
        return PressureWatch(candidates) { [self] in queue.async { self.pressureReported() } }
    }

    private func pressureReported() {
        let holding = memory.statistics.bytes
        let (bound, wasReduced) = relief.withLock { relief in
            let wasReduced = relief.isReduced
            return (relief.pressureReported(holding: holding, at: SystemTime.coarseSeconds()), wasReduced)
        }
        memory.resize(maxBytes: ByteCount(bound))
        // Returns the freed memory to the kernel, which is the purpose.
        linux_trim_heap()
        if !wasReduced {
            logger.notice("memory is short: the memory cache may hold \(ByteCount(bound)) at most")
            scheduleRelaxing()
        }
    }

    private func scheduleRelaxing() {
        queue.asyncAfter(deadline: .now() + .seconds(Int(PressureRelief.calm))) { [self] in
            let (bound, isReduced) = relief.withLock { relief in
                (relief.relax(at: SystemTime.coarseSeconds()), relief.isReduced)
            }
            memory.resize(maxBytes: ByteCount(bound))
            if isReduced {
                scheduleRelaxing()
            } else {
                logger.notice(
                    "memory is no longer short: the memory cache may grow to \(ByteCount(bound)) again")
            }
        }
    }
}
