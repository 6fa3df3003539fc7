// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import ProxyCore

@Suite("Why there is no Landlock")
struct LandlockReasonTests {
    @Test(
        "is said as far as the kernel tells",
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
