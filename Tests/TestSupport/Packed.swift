// SPDX-License-Identifier: Apache-2.0

import CZlib

/// Bytes in a content coding (RFC 9110 §8.4.1).
public enum Packed {
    /// As one gzip member (RFC 1952).
    public static func gzip(_ bytes: [UInt8]) -> [UInt8] { pack(bytes, windowBits: MAX_WBITS + 16) }

    /// As `deflate` is defined (RFC 1950).
    public static func deflate(_ bytes: [UInt8]) -> [UInt8] { pack(bytes, windowBits: MAX_WBITS) }

    /// As `deflate` is often sent (RFC 1951 alone).
    public static func bareDeflate(_ bytes: [UInt8]) -> [UInt8] { pack(bytes, windowBits: -MAX_WBITS) }

    private static func pack(_ bytes: [UInt8], windowBits: CInt) -> [UInt8] {
        var stream = z_stream()
        let size = CInt(MemoryLayout<z_stream>.size)
        guard
            deflateInit2_(&stream, 6, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
                == Z_OK
        else { fatalError("zlib has no memory") }
        defer { deflateEnd(&stream) }
        var packed = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))))
        let count = bytes.withUnsafeBufferPointer { input in
            packed.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                guard CZlib.deflate(&stream, Z_FINISH) == Z_STREAM_END else {
                    fatalError("deflateBound lied")
                }
                return output.count - Int(stream.avail_out)
            }
        }
        return Array(packed[..<count])
    }
}
