// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
import Glibc
import Primitives

extension OwnedDescriptor {
    /// Reads `count` bytes from `offset`; fewer only at the end of the file.
    ///
    /// - Parameter fromMemory: from the page cache alone (preadv2(2), RWF_NOWAIT); else it throws
    ///   `wouldBlock`.
    func read(_ count: Int, at offset: Int64, fromMemory: Bool) throws(DiskCacheError) -> [UInt8] {
        var code: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            (initialized, code) = unsafe FileIO.fill(
                UnsafeMutableRawBufferPointer(buffer), from: raw, at: offset,
                flags: fromMemory ? Self.nowait : 0)
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

    /// Writes all of `bytes` at `offset`.
    func write(_ bytes: [UInt8], at offset: Int64) throws(DiskCacheError) {
        let code = unsafe bytes.withUnsafeBytes { unsafe FileIO.write($0, to: raw, at: offset) }
        guard code == 0 else { throw DiskCacheError("pwrite", code: code) }
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

    /// The length of the file in bytes.
    func length() throws(DiskCacheError) -> Int64 {
        var status = stat()
        guard unsafe fstat(raw, &status) == 0 else { throw DiskCacheError("fstat", code: errno) }
        return Int64(status.st_size)
    }

    /// Waits until the file's bytes and inode, or the folder's names, are on the disk.
    func sync() throws(DiskCacheError) {
        guard fsync(raw) == 0 else { throw DiskCacheError("fsync", code: errno) }
    }
}
