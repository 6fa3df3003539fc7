// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Synchronization

/// Descriptors kept back, so that a health check is answered when all others are gone. From any thread.
final class DescriptorReserve: Sendable {
    private let descriptors = Mutex<[CInt]>([])
    private let size: Int
    /// What is open behind each number that is kept; nil where there was no descriptor even for that.
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

    /// Descriptors from here on are left to what else opens files in this process: libraries, some of which end it when they
    /// get none (libdispatch reads the states of its threads).
    static var firstScarceNumber: CInt { linux_first_scarce_descriptor() }

    /// Gives one back to the system for a connection that is yet to be accepted; false when none is left.
    func release() -> Bool {
        guard let descriptor = take() else { return false }
        Glibc.close(descriptor)
        return true
    }

    /// Hands one over, open as it is, so that nobody else gets its number: a socket is to be put in its place. Nil when none is
    /// left.
    func take() -> CInt? {
        descriptors.withLock { $0.popLast() }
    }

    /// Takes the number of a socket that is to be closed, where one is missing; else closes it.
    func close(orKeep socket: CInt) {
        let scarce = Self.firstScarceNumber
        let isKept = descriptors.withLock { descriptors in
            // In one step, so that the number is nobody else's in between.
            guard descriptors.count < size, socket < scarce, let placeholder,
                linux_dup3(placeholder, socket, O_CLOEXEC) >= 0
            else { return false }
            descriptors.append(socket)
            return true
        }
        if !isKept { Glibc.close(socket) }
    }

    /// Takes back as many as are missing, or as there are below the scarce ones.
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
