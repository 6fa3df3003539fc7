// SPDX-License-Identifier: Apache-2.0

import Glibc
import Imaging
import Primitives

/// Whole reads and writes at an offset of a descriptor.
enum DescriptorBytes {
    /// Writes all bytes at `offset`.
    static func write(
        _ bytes: UnsafeRawBufferPointer, to descriptor: CInt, at offset: Int64
    ) throws(RenderError) {
        let code = unsafe FileIO.write(bytes, to: descriptor, at: offset)
        guard code == 0 else { throw .notWritten("pwrite of the rendition: errno \(code)") }
    }

    /// Writes all bytes at `offset`.
    static func write(_ bytes: [UInt8], to descriptor: CInt, at offset: Int64 = 0) throws(RenderError) {
        try unsafe bytes.withBytes { (bytes) throws(RenderError) in
            try unsafe write(bytes, to: descriptor, at: offset)
        }
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
    static func fill(
        _ bytes: UnsafeMutableRawBufferPointer, from descriptor: CInt, at offset: Int64
    ) -> Bool {
        unsafe FileIO.fill(bytes, from: descriptor, at: offset) == (bytes.count, 0)
    }
}
