// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bodies
internal import CLinux
internal import Glibc
import Primitives

/// Where a command writes its result: a file that appears, or is replaced, once it is complete; or the standard output, a pipe
/// or a device, which get the bytes then.
struct OutputFile {
    /// What is written to; it has no name.
    let descriptor: OwnedDescriptor
    private let place: Place

    private enum Place {
        case file(String)
        case stream(OwnedDescriptor?, name: String)
    }

    /// - Parameter path: `-` is the standard output.
    init(_ path: String) throws {
        descriptor = try Self.owned(unsafe linux_memfd_create("output"), path)
        guard path != "-" else {
            place = .stream(nil, name: "the standard output")
            return
        }
        var facts = stat()
        let exists = unsafe stat(path, &facts) == 0
        if exists, facts.st_mode & S_IFMT == S_IFDIR {
            errno = EISDIR
            throw Self.failure(path)
        }
        if !exists, unsafe lstat(path, &facts) == 0 {
            // A link to nothing: the file that it names would not be the one that appears.
            errno = ENOENT
            throw Self.failure(path)
        }
        guard !exists || facts.st_mode & S_IFMT == S_IFREG else {
            // A pipe or a device stays what it is.
            let stream = try Self.owned(unsafe linux_open(path, O_WRONLY | O_CLOEXEC, 0), path)
            place = .stream(stream, name: path)
            return
        }
        let final = exists ? Self.resolved(path) : path
        place = .file(final)
        // Known before the work begins.
        guard unsafe access(Self.folder(of: final) + "/.", W_OK) == 0 else { throw Self.failure(path) }
    }

    private static func owned(_ descriptor: CInt, _ name: String) throws -> OwnedDescriptor {
        guard descriptor >= 0 else { throw failure(name) }
        return OwnedDescriptor(owning: descriptor)
    }

    /// The file that a symbolic link leads to.
    private static func resolved(_ path: String) -> String {
        guard let target = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(target) }
        return unsafe String(cString: target)
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func failure(_ name: String) -> ExitCode {
        HostProcess.reportError("\(name) can't be written: \(systemErrorText(errno))")
        return .failure
    }

    /// Writes the file, or sends its bytes.
    func finish(byteCount: Int) throws {
        let bytes = try descriptor.readAll(from: 0, count: byteCount)
        switch place {
        case .stream(let stream, let name):
            try Self.send(bytes, to: stream?.raw ?? STDOUT_FILENO, name)
        case .file(let path):
            let code = FileIO.replace(path, by: bytes, through: "\(path).\(getpid()).tmp", mode: 0o666)
            guard code == 0 else {
                errno = code
                throw Self.failure(path)
            }
        }
    }

    private static func send(_ bytes: [UInt8], to output: CInt, _ name: String) throws {
        // A closed pipe is an error here, and no signal.
        signal(SIGPIPE, SIG_IGN)
        var place = 0
        while place < bytes.count {
            let count = retryingOnInterrupt {
                unsafe bytes[place...].withUnsafeBytes { unsafe write(output, $0.baseAddress, $0.count) }
            }
            guard count > 0 else { throw failure(name) }
            place += count
        }
    }
}
