// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Synchronization

/// Descriptors kept back, so that a health check is answered when all others are gone. From any thread.
final class DescriptorReserve: Sendable {
    private let descriptors = Mutex<[CInt]>([])
    private let size: Int

    init(size: Int) {
        self.size = size
        refill()
    }

    deinit {
        for descriptor in descriptors.withLock({ $0 }) { close(descriptor) }
    }

    /// Descriptors from here on are left to what else opens files in this process: libraries, some of which end it when they
    /// get none (libdispatch reads the states of its threads), and the log of what is going on.
    static var firstScarceNumber: CInt {
        var limits = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else { return .max }
        return CInt(clamping: limits.rlim_cur) - headroom
    }

    /// Most descriptors that are left to others.
    private static var headroom: CInt { 8 }

    /// Gives one back to the system for a connection; false when none is left.
    func release() -> Bool {
        guard let descriptor = descriptors.withLock({ $0.popLast() }) else { return false }
        close(descriptor)
        return true
    }

    /// Takes back as many as are missing, or as there are below the scarce ones.
    func refill() {
        let scarce = Self.firstScarceNumber
        descriptors.withLock { descriptors in
            while descriptors.count < size {
                let descriptor = eventfd(0, CInt(EFD_CLOEXEC))
                guard descriptor >= 0 else { return }
                guard descriptor < scarce else {
                    close(descriptor)
                    return
                }
                descriptors.append(descriptor)
            }
        }
    }
}
