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

    /// Gives one back to the system for a connection; false when none is left.
    func release() -> Bool {
        guard let descriptor = descriptors.withLock({ $0.popLast() }) else { return false }
        close(descriptor)
        return true
    }

    /// Takes back as many as are missing, or as there are.
    func refill() {
        descriptors.withLock { descriptors in
            while descriptors.count < size {
                let descriptor = eventfd(0, CInt(EFD_CLOEXEC))
                guard descriptor >= 0 else { return }
                descriptors.append(descriptor)
            }
        }
    }
}
