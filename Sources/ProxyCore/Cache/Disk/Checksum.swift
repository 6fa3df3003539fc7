// SPDX-License-Identifier: Apache-2.0

import CLinux

/// CRC32C, which detects bytes that changed on the disk.
enum Checksum {
    /// The checksum of `bytes`, continuing from that of what came before them (0 to begin).
    static func crc32c(_ bytes: some Collection<UInt8>, continuing checksum: UInt32 = 0) -> UInt32 {
        let whole = bytes.withContiguousStorageIfAvailable { buffer in
            unsafe linux_crc32c(checksum, buffer.baseAddress, buffer.count)
        }
        return whole ?? crc32c(Array(bytes), continuing: checksum)
    }
}
