// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
import Glibc

extension OwnedDescriptor {
    /// Reads `count` bytes from `offset`; fewer only at the end of the file.
    ///
    /// - Parameter fromMemory: from the page cache alone (preadv2(2), RWF_NOWAIT); else it throws
    ///   `wouldBlock`.
    func read(_ count: Int, at offset: Int64, fromMemory: Bool) throws(DiskCacheError) -> [UInt8] {
        var code: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            (initialized, code) = unsafe fill(
                UnsafeMutableRawBufferPointer(buffer), at: offset, fromMemory: fromMemory)
        }
        guard code == 0 else { throw Self.readError(code) }
        return bytes
    }

    private static func readError(_ code: Int32) -> DiskCacheError {
        code == EAGAIN || code == EOPNOTSUPP ? .wouldBlock : DiskCacheError("preadv2", code: code)
    }

    /// Reads up to `count` bytes from the file's beginning by one call, maybe fewer.
    func readOnce(_ count: Int, fromMemory: Bool) throws(DiskCacheError) -> [UInt8] {
        let flags = fromMemory ? Self.nowait : 0
        var result = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            result = unsafe linux_pread2(raw, buffer.baseAddress, count, 0, flags)
            initialized = max(0, result)
        }
        guard result >= 0 else { throw Self.readError(errno) }
        return bytes
    }

    /// RWF_NOWAIT, which Glibc's module does not export.
    private static let nowait: Int32 = 0x8

    /// Fills the buffer from `offset`; returns the number of bytes read, and errno if that ended before the
    /// file did.
    func fill(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64, fromMemory: Bool) -> (Int, Int32) {
        let flags: Int32 = fromMemory ? Self.nowait : 0
        var done = 0
        while done < buffer.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = unsafe linux_pread2(
                raw, rest.baseAddress, rest.count, off_t(offset) + off_t(done), flags)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { return (done, errno) }
            guard count > 0 else { break }
            done += count
        }
        return (done, 0)
    }

    /// Writes all of `bytes` at `offset`.
    func write(_ bytes: [UInt8], at offset: Int64) throws(DiskCacheError) {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe pwrite(
                    raw, buffer.baseAddress?.advanced(by: done), buffer.count - done,
                    off_t(offset) + off_t(done))
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw DiskCacheError("pwrite", code: errno) }
            done += count
        }
    }

    /// Writes both at the file's beginning, one after the other, without copying them together.
    func write(_ head: [UInt8], _ body: [UInt8]) throws(DiskCacheError) {
        let count = unsafe head.withUnsafeBytes { head in
            unsafe body.withUnsafeBytes { body in
                // Safe because pwritev(2) only reads what the vectors point at.
                let parts: InlineArray<2, iovec> = unsafe [
                    iovec(iov_base: UnsafeMutableRawPointer(mutating: head.baseAddress), iov_len: head.count),
                    iovec(iov_base: UnsafeMutableRawPointer(mutating: body.baseAddress), iov_len: body.count),
                ]
                return unsafe parts.span.withUnsafeBufferPointer { parts in
                    unsafe pwritev(raw, parts.baseAddress, 2, 0)
                }
            }
        }
        guard count < head.count + body.count else { return }
        // Cut short, interrupted or refused: the slow way, which also reports why.
        try write(head, at: 0)
        try write(body, at: Int64(head.count))
    }

    /// Waits until the file's bytes and inode, or the folder's names, are on the disk.
    func sync() throws(DiskCacheError) {
        guard fsync(raw) == 0 else { throw DiskCacheError("fsync", code: errno) }
    }
}
