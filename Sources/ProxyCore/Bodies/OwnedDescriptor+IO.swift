// SPDX-License-Identifier: Apache-2.0

import Glibc

extension OwnedDescriptor {
    /// Writes all of `bytes` at `offset` (pwrite(2), repeated until done).
    /// - Throws: `storage` with the call's name and error, for example on a full disk.
    func writeAll(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(BodyError) {
        var done = 0
        while done < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = unsafe pwrite(raw, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw .storage("pwrite: error \(errno)") }
            done += count
        }
    }

    /// Writes all of `bytes` at `offset`.
    /// - Throws: as the other `writeAll`.
    func writeAll(_ bytes: [UInt8], at offset: Int64) throws(BodyError) {
        try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(BodyError) in
            try unsafe writeAll(UnsafeRawBufferPointer(buffer), at: offset)
        }
    }

    /// Reads exactly `count` bytes from `offset` (pread(2), repeated until done).
    /// - Throws: `storage` with the call's name and error, or if the file ends before.
    package func readAll(from offset: Int64, count: Int) throws(BodyError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                return unsafe pread(raw, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            }
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else {
                throw .storage(got == 0 ? "pread: file too short" : "pread: error \(errno)")
            }
            done += got
        }
        return bytes
    }
}
