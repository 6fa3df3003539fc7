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

    /// Waits until the file's bytes and inode, or the folder's names, are on the disk.
    func sync() throws(DiskCacheError) {
        guard fsync(raw) == 0 else { throw DiskCacheError("fsync", code: errno) }
    }
}
