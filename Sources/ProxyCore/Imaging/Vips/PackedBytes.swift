// SPDX-License-Identifier: Apache-2.0

import CVips

/// Looks into what zlib packed (RFC 1950) without keeping it.
enum PackedBytes {
    /// How many bytes a stream unpacks to, counted only a little beyond `limit`; where it is broken it ends.
    static func unpackedLength(of stream: UnsafeRawBufferPointer, atMost limit: Int) -> Int {
        unsafe Int(shim_unpacked_length(stream.baseAddress, stream.count, limit + 1))
    }
}
