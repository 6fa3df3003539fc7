// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// What a worker gives up before it sees a stranger's byte: new privileges, files, sockets, other processes.
///
/// Two layers that do not lean on each other: Landlock says which files are there, a list of system calls says what can
/// be asked of the kernel at all. Both are irrevocable and pass on to every thread started later.
struct Sandbox {
    /// Bounds and how much is insisted on.
    let settings: WorkerSettings

    /// Why a process was not sealed.
    enum Failure: Error {
        /// A part that is insisted on can't be had; the text names it, and says why.
        case impossible(String)
        /// What a worker needs does not work.
        case unusable(String)
    }

    /// Files a worker may have open at once: its socket, a job's descriptors, fonts.
    private static let maxFiles: UInt64 = 128

    /// Seals this process; libvips and its coders load what they need in between.
    ///
    /// To be called by the only thread there is: Landlock holds for the thread that asks for it and its children.
    func seal() throws(Failure) -> SandboxReport {
        var report = SandboxReport()
        try limitResources()
        guard linux_forbid_new_privileges() == 0 else { throw .impossible("prctl PR_SET_NO_NEW_PRIVS") }
        guard VipsLibrary.startAlone() else { throw .unusable("libvips does not start") }
        try guardFiles(&report)
        // Coders load and look up what they need on first use, and their threads are started.
        guard WarmUp.succeeds() else { throw .unusable("a coder fails at its first picture") }
        WarmUp.readFonts()
        try filterCalls(&report)
        // Once more behind the last door: what fails from now on would fail with the first client's picture.
        guard WarmUp.succeeds(with: [.jpeg]) else { throw .unusable("a coder fails when it is sealed") }
        return report
    }

    /// Decoders and allocators reserve up to twice what they come to use, and take a refusal for damage: it must not
    /// meet a job that was let in by its estimate.
    private static let spacePerByte: UInt64 = 2

    private func limitResources() throws(Failure) {
        guard linux_forbid_core_files() == 0, linux_lower_priority(CInt(settings.niceness)) == 0 else {
            throw .unusable("setrlimit or setpriority: errno \(errno)")
        }
        guard settings.addressSpace > 0 else { return }
        let bytes = UInt64(settings.addressSpace)
        // A result is whole in memory before it is written, so no file needs to be larger.
        guard linux_limit_address_space(bytes * Self.spacePerByte) == 0,
            linux_limit_file_size(bytes) == 0
        else {
            throw .unusable("setrlimit: errno \(errno)")
        }
    }

    // MARK: - Files

    private func guardFiles(_ report: inout SandboxReport) throws(Failure) {
        let threads = linux_thread_count()
        guard threads == 1 else { throw .unusable("\(threads) threads at the time of sealing") }
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
