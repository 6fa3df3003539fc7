// SPDX-License-Identifier: Apache-2.0

import Answering
internal import ArgumentParser
import CLinux
import Observability
import Primitives

// Safe because the one global used, `environ`, is read at the start and at reloads, and never changed.
@unsafe @preconcurrency import Glibc

/// What the process was started with: its environment, files named on its command line, standard error.
enum HostProcess {
    /// A file that can't be read.
    struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// The system's description of the error.
        let description: String
    }

    /// The environment, which nothing in this process changes.
    static var environment: [String: String] {
        var variables: [String: String] = [:]
        var entry = unsafe environ
        // Safe because the environment ends with a null pointer and is not changed while the daemon starts.
        while let text = unsafe entry.pointee {
            let pair = unsafe String(cString: text).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if pair.count == 2 { variables[String(pair[0])] = String(pair[1]) }
            unsafe entry += 1
        }
        return variables
    }

    /// Reads a whole file, up to `ConfigurationLoader.maxFileBytes`.
    /// - Parameter isRegular: whether it must be a regular file; reading a pipe or a device may block.
    static func contents(of path: String, isRegular: Bool = false) throws(Failure) -> [UInt8] {
        do throws(FileIO.ReadError) {
            return try FileIO.contents(
                of: path, atMost: ConfigurationLoader.maxFileBytes, isRegular: isRegular)
        } catch {
            throw Failure(description: "\(error)")
        }
    }

    /// Descriptors for the default numbers of connections and open files, and as many again.
    private static let descriptorsWanted: rlim_t = 131_072

    /// Heaps (malloc arenas) that threads share; hits do not allocate, so contention is low.
    private static let arenas: CInt = 4
    /// The size in bytes from which allocations are mapped separately; most bodies of images are.
    private static let largeAllocation: CInt = 128 << 10
    /// The free memory that each heap keeps. With less (the default is 128 KiB) it would return what one fetch has freed,
    /// and the next would get it as new pages, which the kernel has to clear.
    private static let spareMemory: CInt = 1 << 20

    /// Prepares the process to serve: a closed connection is an error, not a signal, freed memory does not
    /// stay in many heaps, and the limit of descriptors is raised as far as the system permits.
    /// - Returns: the limit of descriptors.
    static func prepareToServe() -> Int {
        linux_bound_heap(arenas, largeAllocation, spareMemory)
        // sendfile(2) has no flag for it.
        signal(SIGPIPE, SIG_IGN)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { return 1_024 }
        // Only root may raise the hard limit; any user may raise the soft one, up to the hard one.
        let hard = max(limit.rlim_max, descriptorsWanted)
        for ceiling in [hard, limit.rlim_max] where limit.rlim_cur < ceiling {
            var raised = rlimit(rlim_cur: ceiling, rlim_max: ceiling)
            if unsafe setrlimit(resource, &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// Writes a line to standard error.
    static func reportError(_ text: String) {
        // Lost when standard error is closed; the exit code is still there.
        _ = LogSink(descriptor: STDERR_FILENO).write(Array((text + "\n").utf8))
    }

    /// Writes a line to standard error, and returns the exit code to throw.
    static func reported(_ text: String, _ code: ExitCode = .failure) -> ExitCode {
        reportError(text)
        return code
    }
}
