// SPDX-License-Identifier: Apache-2.0

import CVips

/// Measures zlib streams (RFC 1950) without storing their content.
enum PackedBytes {
    /// The decompressed length of a stream, counted only a little beyond `limit`; a damaged stream ends at
    /// the damage.
    static func unpackedLength(of stream: UnsafeRawBufferPointer, atMost limit: Int) -> Int {
        unsafe Int(shim_unpacked_length(stream.baseAddress, stream.count, limit + 1))
    }
}
