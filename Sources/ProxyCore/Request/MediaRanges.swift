// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Iterates over the members of an `Accept` field: media type and q-value (RFC 9110 §12.5.1, §12.4.2). Does
/// not allocate.
///
/// Valid as long as the bytes that it reads.
@unsafe struct MediaRanges {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        unsafe self.bytes = bytes
    }

    /// Returns the next well-formed member: its media type without parameters, and its quality in
    /// thousandths; nil at the end.
    mutating func next() -> (type: UnsafeRawBufferPointer, quality: Int)? {
        while unsafe position < bytes.count {
            let end = unsafe end(of: UInt8(ascii: ","), from: position, to: bytes.count)
            let start = unsafe position
            unsafe position = end + 1
            if let range = unsafe member(start, end) { return unsafe range }
        }
        return nil
    }

    private func member(_ start: Int, _ end: Int) -> (type: UnsafeRawBufferPointer, quality: Int)? {
        var position = unsafe self.end(of: UInt8(ascii: ";"), from: start, to: end)
        let type = unsafe trimmed(start, position)
        var quality = 1_000
        while position < end {
            let next = unsafe self.end(of: UInt8(ascii: ";"), from: position + 1, to: end)
            let parameter = unsafe trimmed(position + 1, next)
            if parameter.count >= 2, unsafe parameter[0] | 0x20 == UInt8(ascii: "q"),
                unsafe parameter[1] == UInt8(ascii: "=")
            {
                guard let weight = unsafe Self.weight(UnsafeRawBufferPointer(rebasing: parameter[2...]))
                else { return nil }
                quality = weight
            }
            position = next
        }
        return unsafe type.isEmpty ? nil : (type, quality)
    }

    /// The next `separator` outside a quoted string, or `limit`.
    private func end(of separator: UInt8, from start: Int, to limit: Int) -> Int {
        var isQuoted = false
        var index = start
        while index < limit {
            switch unsafe bytes[index] {
            case UInt8(ascii: "\\") where isQuoted: index += 1
            case UInt8(ascii: "\""): isQuoted.toggle()
            case separator where !isQuoted: return index
            default: break
            }
            index += 1
        }
        return limit
    }

    private func trimmed(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
        var (start, end) = (start, end)
        while start < end, unsafe Self.isSpace(bytes[start]) { start += 1 }
        while start < end, unsafe Self.isSpace(bytes[end - 1]) { end -= 1 }
        return unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Parses a weight, `0` to `1` with at most three decimals, in thousandths.
    private static func weight(_ digits: UnsafeRawBufferPointer) -> Int? {
        guard (1...5).contains(digits.count), unsafe digits[0] & 0xFE == UInt8(ascii: "0") else { return nil }
        guard unsafe digits.count == 1 || digits[1] == UInt8(ascii: ".") else { return nil }
        var value = unsafe Int(digits[0] - UInt8(ascii: "0")) * 1_000
        var unit = 100
        for index in 2..<max(2, digits.count) {
            guard unsafe digits[index].isASCIIDigit else { return nil }
            value += unsafe Int(digits[index] - UInt8(ascii: "0")) * unit
            unit /= 10
        }
        return value <= 1_000 ? value : nil
    }
}
