// SPDX-License-Identifier: Apache-2.0

/// Reads the bits of bytes; zeros after their end.
struct BitReader {
    private var bytes: BoxReader
    /// Whether each byte's highest bit comes first, and a number's, too.
    private let isHighestFirst: Bool
    private var byte = 0
    private var left = 0
    /// Whether a bit after the end was read.
    private(set) var isExhausted = false

    /// Creates a reader at the next byte.
    init(_ bytes: BoxReader, isHighestFirst: Bool) {
        self.bytes = bytes
        self.isHighestFirst = isHighestFirst
    }

    /// Reads a number.
    mutating func take(_ count: Int) -> Int {
        (0..<count).reduce(0) { value, place in
            isHighestFirst ? value << 1 | bit() : value | bit() << place
        }
    }

    mutating func skip(_ count: Int) { for _ in 0..<count { _ = bit() } }

    private mutating func bit() -> Int {
        if left == 0 {
            let next = bytes.number(1)
            isExhausted = isExhausted || next == nil
            byte = next ?? 0
            left = 8
        }
        left -= 1
        return byte >> (isHighestFirst ? left : 7 - left) & 1
    }
}
