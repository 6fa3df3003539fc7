// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bodies
internal import CLinux
internal import Glibc
import Primitives

/// Where a command writes its result: a file that appears, or is replaced, once it is complete; or the standard output, a pipe
/// or a device, which get the bytes then.
struct OutputFile {
    /// What is written to; it has no name yet.
    let descriptor: OwnedDescriptor
    private let place: Place

    private enum Place {
        case file(String)
        case stream(OwnedDescriptor?, name: String)
    }

    /// - Parameter path: `-` is the standard output.
    init(_ path: String) throws {
        guard path != "-" else {
            place = .stream(nil, name: "the standard output")
            descriptor = try Self.memory(path)
            return
        }
        var facts = stat()
        let exists = unsafe stat(path, &facts) == 0
        if exists, facts.st_mode & S_IFMT == S_IFDIR {
            errno = EISDIR
            throw Self.failure(path)
        }
        guard !exists || facts.st_mode & S_IFMT == S_IFREG else {
            // A pipe or a device stays what it is.
            let stream = try Self.owned(unsafe linux_open(path, O_WRONLY | O_CLOEXEC, 0), path)
            place = .stream(stream, name: path)
            descriptor = try Self.memory(path)
            return
        }
        let final = exists ? Self.resolved(path) : path
        place = .file(final)
        // Without a name, so that nothing is left of it if the command ends before it is complete.
        let folder = Self.folder(of: final)
        let unnamed = unsafe linux_open(folder, O_RDWR | O_CLOEXEC | Self.unnamedFile, 0o666)
        if unnamed < 0, errno == EOPNOTSUPP || errno == EISDIR {
            descriptor = try Self.memory(path)
        } else {
            descriptor = try Self.owned(unnamed, path)
        }
    }

    /// O_TMPFILE of open(2), which Glibc's module lacks.
    private static let unnamedFile: CInt = 0o20_000_000 | O_DIRECTORY

    private static func memory(_ name: String) throws -> OwnedDescriptor {
        try owned(unsafe linux_memfd_create("output"), name)
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

    /// Gives the file its name, or sends its bytes.
    func finish(byteCount: Int) throws {
        switch place {
        case .stream(let stream, let name):
            try copy(byteCount, to: stream?.raw ?? STDOUT_FILENO, name)
        case .file(let path):
            let temporary = "\(path).\(getpid()).tmp"
            if unsafe linkat(
                AT_FDCWD, "/proc/self/fd/\(descriptor.raw)", AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) != 0
            {
                // The folder's file system has no files without a name.
                let file = try Self.owned(
                    unsafe linux_open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666), path)
                try copy(byteCount, to: file.raw, path)
            }
            guard unsafe rename(temporary, path) == 0 else {
                defer { unsafe unlink(temporary) }
                throw Self.failure(path)
            }
        }
    }

    private func copy(_ byteCount: Int, to output: CInt, _ name: String) throws {
        let bytes = try descriptor.readAll(from: 0, count: byteCount)
        // A closed pipe is an error here, and no signal.
        signal(SIGPIPE, SIG_IGN)
        var place = 0
        while place < bytes.count {
            let count = retryingOnInterrupt {
                unsafe bytes[place...].withUnsafeBytes { unsafe write(output, $0.baseAddress, $0.count) }
            }
            guard count > 0 else { throw Self.failure(name) }
            place += count
        }
    }
}
