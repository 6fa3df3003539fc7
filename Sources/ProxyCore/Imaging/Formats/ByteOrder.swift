// SPDX-License-Identifier: Apache-2.0

/// The order of the bytes of a number in a file.
enum ByteOrder {
    case bigEndian, littleEndian

    /// The number that up to eight bytes are; nil if an `Int` can't hold it.
    func number(_ bytes: some BidirectionalCollection<UInt8>) -> Int? {
        let value =
            switch self {
            case .bigEndian: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            case .littleEndian: bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            }
        return Int(exactly: value)
    }

    /// The lowest `length` bytes of a number.
    func bytes(of number: Int, length: Int) -> [UInt8] {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        return self == .littleEndian ? bytes : bytes.reversed()
    }
}

extension RandomAccessCollection<UInt8> where Index == Int {
    /// Reads a number of up to eight bytes; nil unless all of them exist, and if an `Int` can't hold it.
    func number(at place: Int, length: Int, _ order: ByteOrder = .bigEndian) -> Int? {
        guard place >= startIndex, (0...8).contains(length), place <= endIndex - length else { return nil }
        return order.number(self[place..<place + length])
    }
}

/// A big-endian number of four bytes, or of `length`.
func bigEndian(_ number: Int, length: Int = 4) -> [UInt8] {
    ByteOrder.bigEndian.bytes(of: number, length: length)
}
