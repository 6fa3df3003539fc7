// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
import Glibc
import Imaging
import Primitives

/// A worker that tries forbidden calls and then its work: `imageproxyd check-sandbox`.
package enum SandboxCheck {
    private static let settings = WorkerSettings(
        addressSpace: TransformConfiguration().memoryPerWorker.bytes,
        niceness: TransformConfiguration().niceness, sandbox: .bestEffort)

    /// Restricts this process and writes a line for each attempt; exits with 1 if one has an unexpected
    /// outcome.
    ///
    /// Must be called on the main thread before there is another one.
    package static func run() -> Never {
        do throws(Sandbox.Failure) {
            let report = try Sandbox(settings: settings).restrict()
            printLine(report.description)
            exit(attempts(isConfined: report.filtersCalls) && works() ? 0 : 1)
        } catch {
            switch error {
            case .impossible(let text), .unusable(let text): printLine("not restricted: \(text)")
            }
            exit(1)
        }
    }

    // MARK: - Refused calls

    private static func attempts(isConfined: Bool) -> Bool {
        var isRight = isConfined
        func expect(refused isRefused: Bool, _ what: String) {
            printLine("\(isRefused ? "refused" : "ALLOWED"): \(what)")
            if !isRefused { isRight = false }
        }
        expect(refused: unsafe linux_open("/etc/passwd", O_RDONLY, 0) < 0, "reading a file")
        expect(refused: unsafe linux_open("/proc/self/environ", O_RDONLY, 0) < 0, "reading its environment")
        expect(
            refused: unsafe linux_open("/tmp/imageproxyd-check", O_WRONLY | O_CREAT, 0o600) < 0,
            "writing a file")
        expect(refused: socket(AF_INET, LINUX_SOCK_STREAM, 0) < 0, "a socket of the internet")
        expect(refused: socket(AF_UNIX, LINUX_SOCK_STREAM, 0) < 0, "a socket of this machine")
        expect(refused: linux_try_fork() < 0, "another process")
        var nothing: [UnsafeMutablePointer<CChar>?] = unsafe [nil]
        expect(refused: unsafe execv("/bin/true", &nothing) != 0, "another program")
        expect(refused: kill(getppid(), 0) != 0, "a signal to its parent")
        expect(refused: linux_try_attaching(getppid()) < 0, "looking into its parent")
        expect(refused: unsafe linux_memfd_create("check") < 0, "a file in memory")
        for (call, what) in calls { expect(refused: linux_refuses(call) == 1, what) }
        return isRight
    }

    private static let calls: [(LinuxCall, String)] = [
        (LINUX_CALL_IO_URING, "calls by a ring (io_uring)"),
        (LINUX_CALL_EXECVEAT, "a program from a descriptor"),
        (LINUX_CALL_UNSHARE, "a namespace of its own"),
        (LINUX_CALL_READ_OTHERS, "another's memory"),
        (LINUX_CALL_BPF, "a program in the kernel"),
        (LINUX_CALL_USERFAULT, "faults of its own memory"),
        (LINUX_CALL_PERF, "the processor's counters"),
    ]

    // MARK: - Permitted work

    private static func works() -> Bool {
        var isRight = true
        for format in ImageFormat.allCases where format.isWritable(decoding: []) {
            let isDone = WarmUp.succeeds(with: [format])
            printLine("\(isDone ? "works" : "FAILS"): writing, reading and resizing \(format.rawValue)")
            if !isDone { isRight = false }
        }
        let isDrawn = drawsText()
        printLine("\(isDrawn ? "works" : "FAILS"): text in a drawing")
        return isRight && isDrawn
    }

    private static let drawing = """
        <svg xmlns="http://www.w3.org/2000/svg" width="60" height="30"><text x="2" y="24" font-size="24">Ag</text></svg>
        """

    /// Whether a drawing that contains only text has visible pixels.
    private static func drawsText() -> Bool {
        let bytes = Array(drawing.utf8)
        guard let source = VipsSource.copy(of: .bytes(bytes)) else { return false }
        VipsLibrary.unblock(.svg)
        do throws(ImagingError) {
            let image = try VipsCoder.open(source, as: .svg, frames: .primary, shrink: .none)
            return try image.brightest() > 0
        } catch {
            return false
        }
    }

    private static func printLine(_ line: String) {
        let text = Array((line + "\n").utf8)
        // The result is dropped: a closed output loses the text, but the exit code remains.
        _ = unsafe write(STDOUT_FILENO, text, text.count)
    }
}
