// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Imaging

/// Restricts a worker before it reads untrusted bytes: no new privileges, files, sockets or other processes.
///
/// Two independent layers: Landlock restricts files, a list of system calls restricts the kernel's interface.
/// Both are irrevocable and inherited by every thread that starts later.
struct Sandbox {
    /// The limits, and which parts are required.
    let settings: WorkerSettings

    /// Why a process could not be restricted.
    enum Failure: Error {
        /// A required part can't be had; the text names it and the reason.
        case impossible(String)
        /// A function that the worker needs fails.
        case unusable(String)
    }

    /// The maximum number of a worker's open files: its socket, a job's descriptors, fonts.
    private static let maxFiles: UInt64 = 128

    /// Restricts this process; libvips and its coders load what they need in between.
    ///
    /// Must be called when there is only one thread: Landlock applies to the calling thread and its children.
    func restrict() throws(Failure) -> SandboxReport {
        var report = SandboxReport()
        try limitResources()
        guard linux_forbid_new_privileges() == 0 else { throw .impossible("prctl PR_SET_NO_NEW_PRIVS") }
        guard VipsLibrary.startAlone() else { throw .unusable("libvips does not start") }
        try guardFiles(&report)
        // Coders load and look up what they need on first use, and start their threads.
        guard WarmUp.succeeds() else { throw .unusable("a coder fails at its first picture") }
        WarmUp.readFonts()
        try filterCalls(&report)
        // Again after the last restriction: a failure later would be the first client's.
        guard WarmUp.succeeds(with: [.jpeg]) else { throw .unusable("a coder fails under the restrictions") }
        linux_trim_heap()
        linux_unmap_clean_pages()
        return report
    }

    /// Decoders and allocators reserve up to twice the memory that they use, and report a refusal as damage:
    /// a job that its estimate has admitted must not fail by the limit.
    private static let spacePerByte: UInt64 = 2

    private func limitResources() throws(Failure) {
        guard linux_forbid_core_files() == 0, linux_lower_priority(CInt(settings.niceness)) == 0 else {
            throw .unusable("setrlimit or setpriority: errno \(errno)")
        }
        guard settings.addressSpace > 0 else { return }
        let bytes = UInt64(settings.addressSpace)
        // A result is complete in memory before it is written, so no file needs to be larger.
        guard linux_limit_address_space(bytes * Self.spacePerByte) == 0,
            linux_limit_file_size(bytes) == 0
        else { throw .unusable("setrlimit: errno \(errno)") }
    }

    // MARK: - Files

    private func guardFiles(_ report: inout SandboxReport) throws(Failure) {
        let threads = linux_thread_count()
        guard threads == 1 else { throw .unusable("\(threads) threads before the restrictions") }
        do throws(Landlock.Unavailable) {
            report.landlock = try Landlock.allowReadingOnly(beneath: Landlock.sharedFolders)
        } catch {
            try lack("Landlock (\(error.reason)); so no file can be opened and text finds no font", &report)
        }
        guard linux_lower_file_limit(Self.maxFiles) == 0 else {
            throw .unusable("setrlimit RLIMIT_NOFILE: errno \(errno)")
        }
    }

    // MARK: - Calls

    private func filterCalls(_ report: inout SandboxReport) throws(Failure) {
        do throws(CallFilter.Unavailable) {
            try CallFilter(mayOpenFiles: report.landlock != nil).apply()
            report.filtersCalls = true
        } catch {
            try lack("seccomp (\(error.reason))", &report)
        }
    }

    private func lack(_ part: String, _ report: inout SandboxReport) throws(Failure) {
        guard settings.sandbox == .bestEffort else { throw .impossible(part) }
        report.missing.append(part)
    }
}
