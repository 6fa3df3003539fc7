// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import ProxyCore

@Suite("Why Landlock is missing")
struct LandlockReasonTests {
    @Test(
        "The reason is as precise as the kernel reports it",
        arguments: [
            (ENOSYS, false, "this kernel has none"), (ENOSYS, true, "a filter of system calls (seccomp)"),
            (EPERM, true, "forbidden by a filter of system calls (seccomp)"),
            (EPERM, false, "forbidden by a filter of system calls (seccomp)"),
            (EOPNOTSUPP, false, "turned off when the kernel was started"), (EIO, false, "errno 5"),
        ])
    func reason(code: CInt, isFiltered: Bool, said: String) {
        #expect(Landlock.reason(code, isFiltered: isFiltered).contains(said))
    }
}
