// SPDX-License-Identifier: Apache-2.0

/// A gzip stream of zeros that is a hundred and fifty times smaller than its content (RFC 1951, RFC 1952).
public enum GzipBomb {
    /// The stream for `runs` runs of 258 zeros; its checksum is wrong, which no reader should reach.
    public static func bytes(runs: Int) -> [UInt8] {
        var bits = BitWriter()
        // One final block with the fixed codes: a zero, then runs of 258 at distance 1.
        bits.write(0b011, count: 3)
        bits.writeCode(0b0011_0000, count: 8)
        for _ in 0..<runs {
            bits.writeCode(0b1100_0101, count: 8)
            bits.writeCode(0, count: 5)
        }
        bits.writeCode(0, count: 7)
        let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        return header + bits.finish() + [UInt8](repeating: 0, count: 8)
    }
}

/// Packs bits from the lowest of each byte on, as deflate does.
private struct BitWriter {
    private var bytes: [UInt8] = []
    private var current: UInt32 = 0
    private var used = 0

    /// A number, lowest bit first.
    mutating func write(_ value: UInt32, count: Int) {
        current |= value << UInt32(used)
        used += count
        while used >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: current))
            current >>= 8
            used -= 8
        }
    }

    /// A Huffman code, highest bit first.
    mutating func writeCode(_ code: UInt32, count: Int) {
        var reversed: UInt32 = 0
        for bit in 0..<count where code & (1 << UInt32(bit)) != 0 { reversed |= 1 << UInt32(count - 1 - bit) }
        write(reversed, count: count)
    }

    mutating func finish() -> [UInt8] {
        if used > 0 { write(0, count: 8 - used) }
        return bytes
    }
}
