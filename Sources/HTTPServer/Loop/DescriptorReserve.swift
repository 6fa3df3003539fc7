// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Synchronization

/// Descriptors in reserve, so that a health check is answered when all others are in use. From any thread.
final class DescriptorReserve: Sendable {
    private let descriptors = Mutex<[CInt]>([])
    private let size: Int
    /// The file that is open under each number of the reserve; nil if there was no descriptor even for that.
    private let placeholder: CInt?

    init(size: Int) {
        self.size = size
        let descriptor = eventfd(0, CInt(EFD_CLOEXEC))
        placeholder = descriptor >= 0 ? descriptor : nil
        refill()
    }

    deinit {
        for descriptor in descriptors.withLock({ $0 }) + [placeholder].compactMap({ $0 }) {
            Glibc.close(descriptor)
        }
    }

    /// Descriptors from here on are left to other code in this process that opens files: libraries, some of
    /// which abort without one (libdispatch reads the states of its threads).
    static var firstScarceNumber: CInt { linux_first_scarce_descriptor() }

    /// Closes one descriptor, for a connection that is yet to be accepted; false if none is left.
    func release() -> Bool {
        guard let descriptor = take() else { return false }
        Glibc.close(descriptor)
        return true
    }

    /// Returns one descriptor while it is open, so that no other thread gets its number; the caller replaces
    /// it by a socket. Nil if none is left.
    func take() -> CInt? {
        descriptors.withLock { $0.popLast() }
    }

    /// Takes the number of a socket that is to be closed, if the reserve is not full; else closes it.
    func close(orKeep socket: CInt) {
        let scarce = Self.firstScarceNumber
        let isReserved = descriptors.withLock { descriptors in
            // In one step, so that no other thread gets the number in between.
            guard descriptors.count < size, socket < scarce, let placeholder,
                linux_dup3(placeholder, socket, O_CLOEXEC) >= 0
            else { return false }
            descriptors.append(socket)
            return true
        }
        if !isReserved { Glibc.close(socket) }
    }

    /// Refills the reserve as far as there are descriptors below the scarce ones.
    func refill() {
        descriptors.withLock { descriptors in
            while descriptors.count < size {
                let descriptor = linux_unless_scarce(eventfd(0, CInt(EFD_CLOEXEC)))
                guard descriptor >= 0 else { return }
                descriptors.append(descriptor)
            }
        }
    }
}
