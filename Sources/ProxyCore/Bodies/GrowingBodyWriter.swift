// SPDX-License-Identifier: Apache-2.0

import CLinux
import Crypto

/// What only the one who appends to a growing body needs: the running digests, and the file once there is one.
struct GrowingBodyWriter {
    private var hasher = SHA256()
    /// The number of bytes digested.
    private(set) var count = 0
    /// The CRC32C of all bytes so far.
    private(set) var checksum: UInt32 = 0
    /// Where bytes go; nil while they stay in memory.
    var spill: SpillFile?
    /// Where bytes will go once there are too many for memory, if that has been made sure of already.
    var secured: SpillFile?
    /// Whether there is still another place to go when that one takes no more.
    var canFlee = true

    /// The SHA-256 of all bytes so far.
    var hash: ContentHash { ContentHash(hasher.finalize()) }

    /// Takes `bytes` into the digests.
    mutating func digest(_ bytes: UnsafeRawBufferPointer) {
        unsafe hasher.update(bufferPointer: bytes)
        checksum = unsafe linux_crc32c(checksum, bytes.baseAddress, bytes.count)
        count += bytes.count
    }
}
