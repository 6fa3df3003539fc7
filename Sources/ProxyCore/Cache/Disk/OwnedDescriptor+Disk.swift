// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
import Glibc
import Primitives

extension OwnedDescriptor {
    /// RWF_NOWAIT, which Glibc's module does not export.
    private static let nowait: Int32 = 0x8

    /// Reads `count` bytes from `offset`; fewer only at the end of the file.
    ///
    /// - Parameters:
    ///   - fromMemory: from the page cache alone (preadv2(2)); else it throws `wouldBlock`.
    ///   - once: by one call, which may read fewer bytes.
    func read(
        _ count: Int, at offset: Int64, fromMemory: Bool, once: Bool = false
    ) throws(DiskCacheError) -> [UInt8] {
        let flags = fromMemory ? Self.nowait : 0
        var code: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            guard once else {
                (done, code) = unsafe FileIO.fill(
                    UnsafeMutableRawBufferPointer(buffer), from: raw, at: offset, flags: flags)
                return
            }
            let result = retryingOnInterrupt {
                unsafe linux_pread2(raw, buffer.baseAddress, count, off_t(offset), flags)
            }
            if result < 0 { code = errno }
            done = max(0, result)
        }
        guard code == 0 else {
            throw code == EAGAIN || code == EOPNOTSUPP ? .wouldBlock : DiskCacheError("preadv2", code: code)
        }
        return bytes
    }

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

    /// Waits until the file's bytes and inode, or the folder's names, are on the disk.
    func sync() throws(DiskCacheError) {
        guard fsync(raw) == 0 else { throw DiskCacheError("fsync", code: errno) }
    }
}
