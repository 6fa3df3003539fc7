// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// Whole reads and writes at an offset of a descriptor.
package enum DescriptorBytes {
    /// Writes all bytes at `offset`.
    static func write(
        _ bytes: UnsafeRawBufferPointer, to descriptor: CInt, at offset: Int64
    ) throws(RenderError) {
        var done = 0
        while done < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .notWritten("pwrite of the rendition: errno \(errno)") }
            done += count
        }
    }

    /// Writes all bytes at `offset`.
    static func write(_ bytes: [UInt8], to descriptor: CInt, at offset: Int64 = 0) throws(RenderError) {
        let result: Result<Void, RenderError> = unsafe bytes.withUnsafeBytes { content in
            do throws(RenderError) {
                return .success(try unsafe write(content, to: descriptor, at: offset))
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    /// Returns all bytes of a small file; none if it can't be read.
    static func all(of descriptor: CInt) -> [UInt8] {
        let length = Int(lseek(descriptor, 0, SEEK_END))
        guard length > 0, length <= WatermarkImage.maxBytes else { return [] }
        var bytes = [UInt8](repeating: 0, count: length)
        let isWhole = unsafe bytes.withUnsafeMutableBytes { unsafe fill($0, from: descriptor, at: 0) }
        return isWhole ? bytes : []
    }

    /// Fills `bytes` from `offset`; false if the file is shorter or can't be read.
    package static func fill(
        _ bytes: UnsafeMutableRawBufferPointer, from descriptor: CInt, at offset: Int64
    ) -> Bool {
        var done = 0
        while done < bytes.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
            let count = unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }
}
