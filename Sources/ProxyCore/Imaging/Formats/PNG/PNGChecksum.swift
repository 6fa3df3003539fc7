// SPDX-License-Identifier: Apache-2.0

/// CRC-32 as PNG defines it (PNG third edition, annex D).
enum PNGChecksum {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { sum, _ in sum & 1 == 1 ? 0xEDB8_8320 ^ sum >> 1 : sum >> 1 }
    }

    /// The checksum of a chunk's name and data; O(bytes).
    static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
        let table = table
        return ~bytes.reduce(UInt32.max) { sum, byte in
            table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8
        }
    }
}
