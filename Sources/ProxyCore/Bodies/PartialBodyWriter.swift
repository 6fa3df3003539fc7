// SPDX-License-Identifier: Apache-2.0

import CLinux
import Primitives

/// The state that only the writer of a partial body uses: the running digests, and the file once there is
/// one.
struct PartialBodyWriter {
    private var hasher = SHA256()
    /// The number of digested bytes.
    private(set) var count = 0
    /// The CRC32C of all bytes so far.
    private(set) var checksum: UInt32 = 0
    /// The file that bytes are written to; nil as long as they stay in memory.
    var spill: FilePlace?
    /// The file for bytes beyond the memory limit, if it was created in advance.
    var secured: FilePlace?
    /// Whether the fallback has not been used yet.
    var canMoveToFallback = true

    /// The SHA-256 of all bytes so far.
    var hash: ContentHash { ContentHash(hasher) }

    /// Adds `bytes` to the digests.
    mutating func digest(_ bytes: UnsafeRawBufferPointer) {
        unsafe hasher.update(bytes)
        checksum = unsafe linux_crc32c(checksum, bytes.baseAddress, bytes.count)
        count += bytes.count
    }
}
