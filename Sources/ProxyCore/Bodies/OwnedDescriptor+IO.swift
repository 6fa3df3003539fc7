// SPDX-License-Identifier: Apache-2.0

import Primitives

extension OwnedDescriptor {
    /// Writes all of `bytes` at `offset`.
    /// - Throws: `storage` with the call's name and error, for example on a full disk.
    func writeAll(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(BodyError) {
        let code = unsafe FileIO.write(bytes, to: raw, at: offset)
        guard code == 0 else { throw .storage("pwrite: error \(code)") }
    }

    /// Writes all of `bytes` at `offset`.
    /// - Throws: as the other `writeAll`.
    package func writeAll(_ bytes: [UInt8], at offset: Int64) throws(BodyError) {
        let code = unsafe bytes.withUnsafeBytes { unsafe FileIO.write($0, to: raw, at: offset) }
        guard code == 0 else { throw .storage("pwrite: error \(code)") }
    }

    /// Reads exactly `count` bytes from `offset`.
    /// - Throws: `storage` with the call's name and error, or if the file ends before.
    package func readAll(from offset: Int64, count: Int) throws(BodyError) -> [UInt8] {
        var code: CInt = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            (initialized, code) = unsafe FileIO.fill(
                UnsafeMutableRawBufferPointer(buffer), from: raw, at: offset)
        }
        guard code == 0 else { throw .storage("pread: error \(code)") }
        guard bytes.count == count else { throw .storage("pread: file too short") }
        return bytes
    }
}
