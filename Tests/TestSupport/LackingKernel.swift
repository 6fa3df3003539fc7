// SPDX-License-Identifier: Apache-2.0

import CLinux
import CSeccomp
import Foundation
import Glibc

/// Runs work on a thread for which the kernel does not know some system calls, and so for every process it starts.
public func withoutCalls<Value: Sendable>(
    _ names: [String], _ work: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        // A thread of its own, since what it loses never comes back.
        Thread.detachNewThread {
            continuation.resume(
                with: Result {
                    try loseCalls(names)
                    return try work()
                })
        }
    }
}

private func loseCalls(_ names: [String]) throws {
    guard linux_forbid_new_privileges() == 0, let context = seccomp_init(SHIM_ALLOW) else {
        throw DaemonProcess.Failure(description: "no seccomp")
    }
    defer { seccomp_release(context) }
    for name in names {
        seccomp_rule_add_array(context, SHIM_DENY_KNOWLEDGE, seccomp_syscall_resolve_name(name), 0, nil)
    }
    guard seccomp_load(context) == 0 else { throw DaemonProcess.Failure(description: "seccomp_load") }
}
