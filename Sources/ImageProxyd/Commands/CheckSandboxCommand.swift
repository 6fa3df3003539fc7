// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc

/// `imageproxyd check-sandbox`: starts a sandboxed worker that tries to break out, and to do its work.
struct CheckSandboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-sandbox",
        abstract: "Shows that what decodes pictures can reach nothing but its work.",
        discussion: "Exits with 0 when all that must be refused is refused and pictures are still rendered.")

    func run() throws {
        // In a new process, since the sandbox is set up before there is a second thread.
        let arguments = ["imageproxyd", "worker", "--self-test"]
        var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
        unsafe execv("/proc/self/exe", &pointers)
        throw ValidationError("can't start anew: errno \(errno)")
    }
}
