// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// Repeats a system call that a signal has interrupted (EINTR, signal(7)).
package func retryingOnInterrupt(_ call: () -> Int) -> Int {
    while true {
        let count = call()
        guard count < 0, errno == EINTR else { return count }
    }
}

/// Reads and writes all bytes, however many system calls that takes.
package enum FileIO {
    /// Writes all of `bytes` at `offset` (pwrite(2)); returns 0, or the error, for example of a full disk.
    package static func write(
        _ bytes: UnsafeRawBufferPointer, to descriptor: CInt, at offset: Int64
    ) -> CInt {
        var done = 0
        while done < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = retryingOnInterrupt {
                unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            }
            guard count > 0 else { return count < 0 ? errno : EIO }
            done += count
        }
        return 0
    }

    /// Replaces a file as a whole, also where the process is killed or the power fails; returns 0, or the error.
    /// - Parameters:
    ///   - path: the file's path.
    ///   - bytes: its new content.
    ///   - temporary: the name that it has until it is complete; the path with `.new` by default.
    ///   - mode: its permissions, before the process's umask; the daemon's user's alone by default.
    package static func replace(
        _ path: String, by bytes: [UInt8], through temporary: String? = nil, mode: UInt32 = 0o600
    ) -> CInt {
        let temporary = temporary ?? path + ".new"
        // One that a killed process has left, or that another user has put there.
        unsafe unlink(temporary)
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { return errno }
        var code = unsafe bytes.withUnsafeBytes { unsafe write($0, to: descriptor, at: 0) }
        // Else the name could come before the bytes after a loss of power.
        if code == 0, fdatasync(descriptor) != 0 { code = errno }
        close(descriptor)
        if code == 0, unsafe rename(temporary, path) != 0 { code = errno }
        if code != 0 { unsafe unlink(temporary) }
        return code
    }

    /// Fills `bytes` from `offset` (preadv2(2)); returns the number of bytes read, which is smaller at the end of the file,
    /// and the error that ended it before, or 0.
    /// - Parameters:
    ///   - bytes: the buffer.
    ///   - descriptor: an open file.
    ///   - offset: in bytes from the file's beginning.
    ///   - flags: those of preadv2, such as RWF_NOWAIT.
    package static func fill(
        _ bytes: UnsafeMutableRawBufferPointer, from descriptor: CInt, at offset: Int64, flags: CInt = 0
    ) -> (count: Int, code: CInt) {
        var done = 0
        while done < bytes.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
            let count = retryingOnInterrupt {
                unsafe linux_pread2(
                    descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done), flags)
            }
            guard count >= 0 else { return (done, errno) }
            guard count > 0 else { break }
            done += count
        }
        return (done, 0)
    }

    /// Why a file's content can't be had.
    package enum ReadError: Error, Sendable, Hashable, CustomStringConvertible {
        /// The system refuses; carries errno.
        case system(CInt)
        /// It is a folder, a pipe or a device.
        case notRegular
        /// It has more bytes than these.
        case larger(than: ByteCount)

        /// The reason alone.
        package var description: String {
            switch self {
            case .system(let code): systemErrorText(code)
            case .notRegular: "no regular file"
            case .larger(let most): "larger than \(most)"
            }
        }
    }

    /// A file's whole content as text, for files of the kernel (proc(5)); nil where it can't be read, or is longer than `most`.
    package static func text(of path: String, atMost most: ByteCount) -> String? {
        // Ignored: why: there is no such process, it is another user's, or the system hides the file.
        (try? contents(of: path, atMost: most)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns a file's whole content.
    /// - Parameters:
    ///   - path: the file's path.
    ///   - most: beyond it `larger` is thrown.
    ///   - isRegular: whether it must be a regular file; reading a pipe or a device may block.
    package static func contents(
        of path: String, atMost most: ByteCount, isRegular: Bool = false
    ) throws(ReadError) -> [UInt8] {
        let descriptor = unsafe linux_open(path, O_RDONLY | O_CLOEXEC | (isRegular ? O_NONBLOCK : 0), 0)
        guard descriptor >= 0 else { throw .system(errno) }
        defer { close(descriptor) }
        if isRegular {
            var facts = stat()
            guard unsafe fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
                throw .notRegular
            }
        }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = retryingOnInterrupt { unsafe read(descriptor, &piece, piece.count) }
            guard count >= 0 else { throw .system(errno) }
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
            guard bytes.count <= most.bytes else { throw .larger(than: most) }
        }
    }
}
